// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKFIDO
import YKWire

/// Signs a challenge with a U2F key pair.
struct U2FAuthenticate: Verb {
    static let about = About(
        "authenticate", "Sign with a key pair. Requires a touch.",
        discussion: "With --public-key the signature is checked.",
        examples: [
            Example(
                "ykit u2f authenticate \"$(cat handle.txt)\" --app https://example.com",
                "Sign with the key pair of this key handle.")
        ])

    @Argument("key-handle", isBase64URL: true, help: "The key handle, base64url.") var keyHandle: String

    @OptionGroup var application: U2FOptions
    @OptionGroup var challenge: U2FChallengeOptions

    @Flag("--no-touch", help: "Do not wait for a touch, if the key can sign without one.") var noTouch = false

    @Option("--public-key <key>", isBase64URL: true, help: "The public key of the registration, base64url.")
    var publicKey: String?

    /// A signature with a key pair.
    struct Signed: Report {
        let application: String
        let keyHandle: [UInt8]
        let signature: U2FSignature
        let challenge: U2FChallenge
        let isVerified: Bool
        static let members: [Member<Self>] =
            [
                Member("app") { $0.application }, Member("keyHandle") { Base64.encodeURL($0.keyHandle) },
                Member("present", "whether the key was touched") { $0.signature.presence & 1 == 1 },
                Member("counter") { $0.signature.counter },
                Member("signature") { Base64.encodeURL($0.signature.signature) },
            ] + including { $0.challenge } + [
                Member("signatureData") { Base64.encodeURL($0.data) },
                Member("verified", "null without --public-key") { $0.isVerified ? true : nil },
            ]

        private var data: [UInt8] {
            let count = (0..<4).map { UInt8(truncatingIfNeeded: signature.counter >> (24 - 8 * UInt32($0))) }
            return [signature.presence] + count + signature.signature
        }
    }

    func run(in run: Run) async throws -> Outcome<Signed> {
        let handle = try BytesArgument.hexOrBase64(keyHandle, "KEY-HANDLE")
        let key = try publicKey.map { try Self.key($0) }
        let service = try await run.openU2F()
        let challenge = try challenge.read("getAssertion", application.application, run)
        if !noTouch {
            run.announce(to: "sign in at \(application.application.printable) with U2F")
        }
        let applicationHash = application.applicationHash
        let signed = try await U2FHandle.using {
            try await service.u2fAuthenticate(
                challengeHash: challenge.hash, applicationHash: applicationHash, keyHandle: handle,
                control: noTouch ? .doNotEnforcePresence : .enforcePresence)
        }
        if let key {
            try signed.verify(challengeHash: challenge.hash, applicationHash: applicationHash, publicKey: key)
        }
        let report = Signed(
            application: application.application, keyHandle: handle, signature: signed, challenge: challenge,
            isVerified: key != nil)
        return Outcome(report, "signed\(key == nil ? "" : ", the signature is valid"), counter \(signed.counter)")
    }

    private static func key(_ text: String) throws(Explanation) -> COSEKey {
        let point = try BytesArgument.hexOrBase64(text, "--public-key")
        guard point.count == 65, point.first == 0x04 else {
            throw .usage("--public-key takes a point of 65 bytes that begins with 04")
        }
        return COSEKey(
            ec2: .p256, algorithm: .es256, x: Array(point.dropFirst().prefix(32)), y: Array(point.dropFirst(33)))
    }
}
