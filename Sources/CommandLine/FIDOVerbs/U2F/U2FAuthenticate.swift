// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKFIDO
import YKWire

/// Signs a challenge with a U2F key pair.
struct U2FAuthenticate: Verb {
    static let about = About(
        "authenticate", "Sign with a key pair, after a touch.",
        discussion: "With --public-key the signature is checked.",
        members: [
            "app", "keyHandle", "present", "counter", "signature", "clientData", "challengeHash", "signatureData",
            "verified",
        ])

    @Argument("key-handle", isBase64URL: true, help: "The key handle, base64url.") var keyHandle: String

    @OptionGroup var application: U2FOptions
    @OptionGroup var challenge: U2FChallengeOptions

    @Flag("--no-touch", help: "Do not wait for a touch, where the key can sign without one.") var noTouch = false

    @Option("--public-key <key>", isBase64URL: true, help: "The public key of the registration, base64url.")
    var publicKey: String?

    func answer(in world: World) async throws -> Answer {
        let handle = try BytesArgument.hexOrBase64(keyHandle, "KEY-HANDLE")
        let key = try publicKey.map { try Self.key($0) }
        let service = try await world.openU2F()
        let (hash, clientData) = try challenge.read("getAssertion", application.application, world)
        if !noTouch {
            world.announce("to sign in at \(application.application.printable) with U2F")
        }
        let applicationHash = application.applicationHash
        let signed = try await U2FHandle.using {
            try await service.u2fAuthenticate(
                challengeHash: hash, applicationHash: applicationHash, keyHandle: handle,
                control: noTouch ? .doNotEnforcePresence : .enforcePresence)
        }
        if let key {
            try signed.verify(challengeHash: hash, applicationHash: application.applicationHash, publicKey: key)
        }
        let count = (0..<4).map { UInt8(truncatingIfNeeded: signed.counter >> (24 - 8 * UInt32($0))) }
        return Answer(
            "signed\(key == nil ? "" : ", the signature is right"), counter \(signed.counter)",
            [
                "app": .string(application.application), "keyHandle": .string(Base64.encodeURL(handle)),
                "present": .bool(signed.presence & 1 == 1), "counter": .int(Int64(signed.counter)),
                "signature": .string(Base64.encodeURL(signed.signature)),
                "clientData": clientData.map { .string(Base64.encodeURL($0)) } ?? .null,
                "challengeHash": .string(Hex.encode(hash)),
                "signatureData": .string(Base64.encodeURL([signed.presence] + count + signed.signature)),
                "verified": key == nil ? .null : true,
            ])
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
