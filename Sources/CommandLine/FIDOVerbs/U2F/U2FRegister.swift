// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKFIDO
import YKWire

/// Registers a U2F key pair.
struct U2FRegister: Verb {
    static let about = About(
        "register", "Make a key pair for an application, after a touch.",
        discussion: """
            Prints the key handle, which 'ykit u2f authenticate' takes. The attestation signature is checked. A YubiKey \
            FIPS of the 4 series needs its U2F PIN first, once after it was plugged in.
            """,
        members: [
            "app", "keyHandle", "publicKey", "certificate", "signature", "clientData", "challengeHash",
            "registrationData", "verified",
        ])

    @OptionGroup var application: U2FOptions
    @OptionGroup var challenge: U2FChallengeOptions
    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openU2F()
        let (hash, clientData) = try challenge.read("finishEnrollment", application.application, world)
        world.announce("a new U2F key pair for \(application.application.printable)")
        let made = try await register(hash, service, world)
        try made.verify(challengeHash: hash, applicationHash: application.applicationHash)
        let handle = Base64.encodeURL(made.keyHandle)
        let data = [0x05] + made.publicKey + [UInt8(clamping: made.keyHandle.count)] + made.keyHandle
        var answer = Answer(
            [handle],
            [
                "app": .string(application.application), "keyHandle": .string(handle),
                "publicKey": .string(Base64.encodeURL(made.publicKey)),
                "certificate": .string(Base64.encodeURL(made.certificate)),
                "signature": .string(Base64.encodeURL(made.signature)),
                "clientData": clientData.map { .string(Base64.encodeURL($0)) } ?? .null,
                "challengeHash": .string(Hex.encode(hash)),
                "registrationData": .string(Base64.encodeURL(data + made.certificate + made.signature)),
                "verified": true,
            ])
        answer.isMadeOnce = true
        return answer
    }

    private func register(_ hash: [UInt8], _ service: FIDOService, _ world: World) async throws -> U2FRegistration {
        let applicationHash = application.applicationHash
        do {
            return try await service.u2fRegister(challengeHash: hash, applicationHash: applicationHash)
        } catch FIDOError.u2fPIN(.needed) {
            try await service.u2fVerifyPIN(try await world.u2fPIN(pin, for: "make a U2F key pair"))
            return try await service.u2fRegister(challengeHash: hash, applicationHash: applicationHash)
        }
    }
}
