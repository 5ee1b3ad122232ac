// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport

@testable import YKAge

/// Requests of age's plugin to an SSH agent, and its answers.
struct AgeUnwrapRequestTests {
    private static let fileKey = Secret([UInt8](repeating: 7, count: 16))

    private func p256() throws -> (AgePublicKey, AgeWrapping, AgeWrapping) {
        let own = try PrivateKey(.p256, scalar: Secret([UInt8](repeating: 3, count: 32)))
        let key = try #require(AgePublicKey(own.publicKey))
        let ephemeral = Secret([UInt8](repeating: 4, count: 32))
        return (
            key, try AgeWrapping(Self.fileKey, for: .p256tag(key.bytes), ephemeral: ephemeral),
            try AgeWrapping(Self.fileKey, for: .pivP256(key.bytes), ephemeral: ephemeral)
        )
    }

    private func x25519() throws -> (AgePublicKey, AgeWrapping) {
        let own = try PrivateKey(x25519: Secret([UInt8](repeating: 5, count: 32)))
        let key = try #require(AgePublicKey(own.publicKey))
        return (
            key,
            try AgeWrapping(Self.fileKey, for: .x25519(key.bytes), ephemeral: Secret([UInt8](repeating: 6, count: 32)))
        )
    }

    @Test func requestsComeBackAsTheyWere() throws {
        let (key, tagged, piv) = try p256()
        let (other, wrapping) = try x25519()
        let requests = [
            AgeUnwrapRequest(.key(key)), AgeUnwrapRequest(.tag(key.tag)), AgeUnwrapRequest(.key(key), tagged),
            AgeUnwrapRequest(.key(key), piv), AgeUnwrapRequest(.tag(key.tag), tagged),
            AgeUnwrapRequest(.tag(key.tag), piv),
            AgeUnwrapRequest(.key(other)), AgeUnwrapRequest(.key(other), wrapping),
        ]
        for request in requests {
            try expect(AgeUnwrapRequest(request.bytes), is: request)
            for count in 0..<request.bytes.count {
                #expect(throws: AgeError.self) { try AgeUnwrapRequest(Array(request.bytes.prefix(count))) }
            }
            #expect(throws: AgeError.self) { try AgeUnwrapRequest(request.bytes + [0]) }
        }
    }

    @Test func stanzasForOtherKeysAreRefused() throws {
        let (key, tagged, piv) = try p256()
        let (other, wrapping) = try x25519()
        for request in [
            AgeUnwrapRequest(.key(other), tagged), AgeUnwrapRequest(.key(key), wrapping),
            AgeUnwrapRequest(.tag([1, 2, 3, 4]), tagged), AgeUnwrapRequest(.tag([1, 2, 3, 4]), piv),
            AgeUnwrapRequest(.tag(key.tag), wrapping),
        ] {
            #expect(throws: AgeError.malformed("a stanza that is not for the key")) {
                try AgeUnwrapRequest(request.bytes)
            }
        }
        let text = Array("-> x\n\n".utf8)
        let unknown = [0, 0, 0, 4] + key.tag + [0, 0, 0, UInt8(text.count)] + text
        #expect(throws: AgeError.malformed("a stanza that is not for the key")) { try AgeUnwrapRequest(unknown) }
        #expect(throws: AgeError.self) { try AgeUnwrapRequest([0, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0, 0]) }
        #expect(throws: AgeError.self) { try AgeUnwrapRequest([0xFF, 0xFF, 0xFF, 0xFF]) }
    }

    @Test func answersAreAKeyOrAFileKey() {
        for bytes in [[0], [1] + [UInt8](repeating: 7, count: 16)] as [[UInt8]] {
            expect(AgeUnwrapAnswer(bytes)?.withBytes { $0 }, is: bytes)
        }
        for bytes in [[], [1], [2], [0, 0], [1] + [UInt8](repeating: 7, count: 15)] as [[UInt8]] {
            expect(AgeUnwrapAnswer(bytes).map { _ in true }, is: nil)
        }
    }

    @Test func aKeyIsKnownByItselfOrItsTag() throws {
        let (key, _, _) = try p256()
        let (other, _) = try x25519()
        #expect(AgeAgentKey.key(key).isKey(key) && !AgeAgentKey.key(key).isKey(other))
        #expect(AgeAgentKey.tag(key.tag).isKey(key) && !AgeAgentKey.tag(other.tag).isKey(other))
    }
}
