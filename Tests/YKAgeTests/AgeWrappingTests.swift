// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKWire

@testable import YKAge

/// File keys, wrapped and unwrapped.
struct AgeWrappingTests {
    static let fileKey = Array(UInt8(0)..<16)

    static func ephemeral(_ byte: UInt8) -> SharedSecret { SharedSecret(Secret([UInt8](repeating: byte, count: 32))) }

    static func p256(_ byte: UInt8) throws -> (own: PrivateKey, key: AgePublicKey) {
        let own = try PrivateKey(.p256, scalar: Secret([UInt8](repeating: byte, count: 32)))
        return (own, try #require(AgePublicKey(own.publicKey)))
    }

    static func x25519(_ byte: UInt8) throws -> (own: PrivateKey, key: AgePublicKey) {
        let own = try PrivateKey(x25519: Secret([UInt8](repeating: byte, count: 32)))
        return (own, try #require(AgePublicKey(own.publicKey)))
    }

    static func unwrap(_ wrapping: AgeWrapping, _ own: PrivateKey, _ key: AgePublicKey) throws -> [UInt8]? {
        try wrapping.fileKey(own.shared(with: wrapping.peer()).value, of: key)?.value.copyBytes()
    }

    @Test("What is wrapped for a key is unwrapped with it, from its stanza, and with no other")
    func roundTrips() throws {
        let (own, key) = try Self.p256(3)
        let (other, otherKey) = try Self.p256(4)
        let (native, nativeKey) = try Self.x25519(5)
        let (stranger, strangerKey) = try Self.x25519(6)
        let credential = try #require(AgeFormatTests.credential)
        let cases: [(AgeRecipient, PrivateKey, AgePublicKey, PrivateKey, AgePublicKey, String)] = [
            (.p256tag(key.bytes), own, key, other, otherKey, "p256tag"),
            (.pivP256(key.bytes), own, key, other, otherKey, "piv-p256"),
            (.x25519(nativeKey.bytes), native, nativeKey, stranger, strangerKey, "X25519"),
            (.fido2(credential, publicKey: nativeKey.bytes), native, nativeKey, stranger, strangerKey, "fido2-hmac"),
        ]
        for (recipient, own, key, other, otherKey, type) in cases {
            let wrapping = try AgeWrapping(Secret(Self.fileKey), for: recipient, ephemeral: Self.ephemeral(8).value)
            expect(wrapping.stanza.type, is: type)
            expect(wrapping.stanza.body.count, is: 32)
            let read = try #require(try AgeWrapping(wrapping.stanza))
            expect(read, is: wrapping)
            try expect(Self.unwrap(read, own, key), is: Self.fileKey)
            try expect(Self.unwrap(read, other, otherKey), is: nil)
            let isTagged = type == "p256tag" || type == "piv-p256"
            expect(wrapping.isTagged(for: key.tag), is: isTagged)
            #expect(!wrapping.isTagged(for: otherKey.tag))
        }
    }

    /// RFC 9180 §A.3.1 has the shared secret of the KEM; the rest of its vector is for another cipher.
    @Test("A stanza of type p256tag is the same for the same ephemeral key")
    func isDeterministic() throws {
        let (_, key) = try Self.p256(3)
        let one = try AgeWrapping(Secret(Self.fileKey), for: .p256tag(key.bytes), ephemeral: Self.ephemeral(9).value)
        let two = try AgeWrapping(Secret(Self.fileKey), for: .p256tag(key.bytes), ephemeral: Self.ephemeral(9).value)
        expect(one, is: two)
    }

    @Test("A share that agrees on zero, and a key of another kind, are refused")
    func refusals() throws {
        let (_, key) = try Self.x25519(5)
        let wrapping = AgeWrapping.x25519(share: [UInt8](repeating: 0, count: 32), body: [])
        #expect(throws: AgeError.self) { try wrapping.fileKey(Secret([UInt8](repeating: 0, count: 32)), of: key) }
        #expect(throws: AgeError.self) { try wrapping.fileKey(Secret([1]), of: key) }
        let (_, point) = try Self.p256(3)
        #expect(throws: AgeError.self) { try wrapping.fileKey(Self.ephemeral(1).value, of: point) }
        #expect(throws: AgeError.self) {
            try AgeWrapping(Secret([1]), for: .p256tag([2, 3]), ephemeral: Self.ephemeral(1).value)
        }
        #expect(throws: AgeError.self) { try AgeWrapping(Secret([1]), for: .x25519(key.bytes), ephemeral: Secret([1])) }
    }

    @Test("Stanzas of other types are ignored, malformed ones of known types refused")
    func stanzas() throws {
        let body = [UInt8](repeating: 0, count: 32)
        let share = Base64.encode([UInt8](repeating: 1, count: 32), padded: false)
        try expect(AgeWrapping(AgeStanza("scrypt", ["AA", "18"], body: [1])), is: nil)
        try expect(AgeWrapping(AgeStanza("fido2-hmac", ["AAM", share, "AQ", share, "AQ"], body: body)), is: nil)
        for stanza in [
            AgeStanza("X25519", [share], body: [1]), AgeStanza("X25519", [], body: body),
            AgeStanza("X25519", [share + "="], body: body), AgeStanza("X25519", [share, share], body: body),
            AgeStanza("piv-p256", ["AAAAAA", share], body: body), AgeStanza("p256tag", ["AAAAAA", share], body: body),
            AgeStanza(
                "piv-p256", ["AAAAAA", Base64.encode([2] + [UInt8](repeating: 255, count: 32), padded: false)],
                body: body),
            AgeStanza(
                "p256tag", ["AAAAAA", Base64.encode([4] + [UInt8](repeating: 1, count: 64), padded: false)], body: body),
            AgeStanza("fido2-hmac", ["AAI", share, "Ag", share, "AQ"], body: body),
            AgeStanza("fido2-hmac", ["AAI", share, "AQ", "AQ", "AQ"], body: body),
        ] {
            #expect(throws: AgeError.self) { try AgeWrapping(stanza) }
        }
    }
}
