// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKFIDO
import YKWire

/// Registers a U2F key pair.
struct U2FRegister: Verb {
    static let about = About(
        "register", "Create a key pair for an application. Requires a touch.",
        discussion: """
            Prints the key handle, for 'ykit u2f authenticate'. The attestation signature is checked. A YubiKey FIPS \
            of the 4 series requires its U2F PIN first, once each time it is plugged in.
            """,
        examples: [Example("ykit u2f register --app https://example.com")])

    @OptionGroup var application: U2FOptions
    @OptionGroup var challenge: U2FChallengeOptions
    @OptionGroup var pin: PINOptions

    /// A key pair whose attestation signature is valid.
    struct Registered: Report {
        let application: String
        let made: U2FRegistration
        let challenge: U2FChallenge
        static let members: [Member<Self>] =
            [
                Member("app") { $0.application }, Member("keyHandle") { Base64.encodeURL($0.made.keyHandle) },
                Member("userPublicKey", "a point on P-256, in U2F's format") { Base64.encodeURL($0.made.publicKey) },
                Member("certificate") { Base64.encodeURL($0.made.certificate) },
                Member("signature") { Base64.encodeURL($0.made.signature) },
            ] + including { $0.challenge } + [
                Member("registrationData") { Base64.encodeURL($0.data) }, Member("verified") { _ in true },
            ]

        private var data: [UInt8] {
            let head = [0x05] + made.publicKey + [UInt8(clamping: made.keyHandle.count)]
            return head + made.keyHandle + made.certificate + made.signature
        }
    }

    func run(in run: Run) async throws -> Outcome<Registered> {
        let service = try await run.openU2F()
        let challenge = try challenge.read("finishEnrollment", application.application, run)
        run.announce("a new U2F key pair for \(application.application.printable)")
        let made = try await register(challenge.hash, service, run)
        try made.verify(challengeHash: challenge.hash, applicationHash: application.applicationHash)
        var outcome = Outcome(
            Registered(application: application.application, made: made, challenge: challenge),
            Base64.encodeURL(made.keyHandle))
        outcome.answer.isMadeOnce = true
        return outcome
    }

    private func register(_ hash: [UInt8], _ service: FIDOService, _ run: Run) async throws -> U2FRegistration {
        let applicationHash = application.applicationHash
        do {
            return try await service.u2fRegister(challengeHash: hash, applicationHash: applicationHash)
        } catch FIDOError.u2fPIN(.needed) {
            try await service.u2fVerifyPIN(try await run.u2fPIN(pin, for: "create a U2F key pair"))
            return try await service.u2fRegister(challengeHash: hash, applicationHash: applicationHash)
        }
    }
}
