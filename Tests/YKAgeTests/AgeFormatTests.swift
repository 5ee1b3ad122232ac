// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKWire

@testable import YKAge

/// What is read and written: stanzas, recipients, identities.
struct AgeFormatTests {
    static let credential = try? AgeCredential(
        salt: [UInt8](repeating: 7, count: 32), id: Array(1...64), isVerified: true)

    @Test("A stanza is written as age writes it, with a short last line", arguments: [0, 1, 47, 48, 49, 96, 200])
    func stanzas(count: Int) throws {
        let stanza = AgeStanza("X25519", ["abc", "de"], body: [UInt8](repeating: 0xA5, count: count))
        let lines = stanza.encoded.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().map(Array.init)
        expect(lines.first, is: Array("-> X25519 abc de".utf8))
        #expect(lines.dropFirst().dropLast().allSatisfy { $0.count == 64 })
        #expect((lines.last?.count ?? 64) < 64)
        var reader = AgeStanzaReader()
        var found: AgeStanza?
        for line in lines {
            expect(found, is: nil)
            found = try reader.take(line)
        }
        expect(found, is: stanza)
        #expect(!reader.isInside)
    }

    @Test(
        "A line that is not a stanza is refused",
        arguments: [
            ["->"], ["-> "], ["-> a  b"], ["x a"], ["-> a", "AA=="], ["-> a", "A"], ["-> a", "AB"], ["-> \u{7}"],
        ])
    func malformedStanzas(lines: [String]) {
        var reader = AgeStanzaReader()
        #expect(throws: AgeError.self) {
            for line in lines { _ = try reader.take(Array(line.utf8)) }
        }
    }

    @Test("A line, a body and a number of words have limits")
    func limits() throws {
        var reader = AgeStanzaReader()
        #expect(throws: AgeError.self) {
            try reader.take([UInt8](repeating: 0x41, count: AgeStanzaReader.lineLimit + 1))
        }
        let words = [String](repeating: "a", count: AgeStanzaReader.wordLimit + 1)
        #expect(throws: AgeError.self) { try reader.take(Array("-> \(words.joined(separator: " "))".utf8)) }
        _ = try reader.take(Array("-> a".utf8))
        #expect(throws: AgeError.self) {
            for _ in 0...(AgeStanzaReader.bodyLimit / 48) { _ = try reader.take([UInt8](repeating: 0x41, count: 64)) }
        }
    }

    @Test("Recipients are read as they are written")
    func recipients() throws {
        // rage's test recipient.
        let known = "age1tag1qt8lw0ual6avlwmwatk888yqnmdamm7xfd0wak53ut6elz5c4swx2yqdj4e"
        let tag = try AgeRecipient(parsing: known)
        guard case .p256tag(let point) = tag else {
            Issue.record("\(tag)")
            return
        }
        expect(tag.text(), is: known)
        try expect(AgeRecipient(parsing: tag.text(isOwn: true)), is: tag)
        #expect(tag.text(isOwn: true).hasPrefix("age1ykit1"))
        let credential = try #require(Self.credential)
        let key = [UInt8](repeating: 9, count: 32)
        for recipient in [.x25519(key), .pivP256(point), AgeRecipient.fido2(credential, publicKey: key)] {
            try expect(AgeRecipient(parsing: recipient.text()), is: recipient)
            try expect(AgeRecipient(parsing: recipient.text(isOwn: true)), is: recipient)
        }
        #expect(AgeRecipient.x25519(key).text().hasPrefix("age1"))
        expect(AgePublicKey.x25519(key).recipient, is: .x25519(key))
        expect(AgePublicKey.p256(point).recipient, is: tag)
    }

    @Test("age-plugin-yubikey's recipient and its identity (its README's example form) are read")
    func yubikey() throws {
        let identity = AgeIdentity.yubikey(0x82, serial: 0x0102_0304, tag: [1, 2, 3, 4])
        let (prefix, bytes) = try Bech32.decode(identity.text)
        expect(prefix, is: "age-plugin-yubikey-")
        expect(bytes, is: [4, 3, 2, 1, 0x82, 1, 2, 3, 4])
        try expect(AgeIdentity(parsing: identity.text), is: identity)
    }

    @Test("Identities are read as they are written")
    func identities() throws {
        let credential = try #require(Self.credential)
        let key = [UInt8](repeating: 9, count: 32)
        let point = try P256Point.compressed(
            try #require(try PrivateKey(.p256, scalar: Secret([UInt8](repeating: 3, count: 32))).publicKey.point))
        let all: [AgeIdentity] = [
            .any, .slot(0x83, serial: 20_094_348, key: .x25519(key)), .slot(0x82, serial: 0, key: .p256(point)),
            .fido2(credential, publicKey: key), .fido2(credential, publicKey: nil),
        ]
        for identity in all {
            expect(identity.text, is: identity.text.uppercased())
            try expect(AgeIdentity(parsing: identity.text), is: identity)
        }
    }

    @Test("The identity of age-plugin-fido2-hmac -m, as its README prints it, stands for any credential")
    func anyCredential() throws {
        try expect(AgeIdentity(parsing: "AGE-PLUGIN-FIDO2-HMAC-1VE5KGMEJ945X6CTRM2TF76"), is: .any)
    }

    @Test(
        "What is not a recipient or an identity is refused",
        arguments: [
            "", "age1", "age1tag1qqqq", Bech32.encode("age", [1]),
            Bech32.encode("age1tag", [2] + [UInt8](repeating: 255, count: 32)),
            Bech32.encode("age1ykit", [0, 2] + [UInt8](repeating: 0, count: 40)),
            Bech32.encode("age1ykit", [0, 3] + [UInt8](repeating: 0, count: 90)),
            Bech32.encode(
                "age1ykit", [0, 2] + [UInt8](repeating: 0, count: 32) + [2] + [UInt8](repeating: 0, count: 40)),
            Bech32.encode("age1other", [1, 2, 3]), Bech32.encode("age-plugin-ykit-", [9]),
            Bech32.encode("age-plugin-yubikey-", [1, 2]),
            Bech32.encode("age-plugin-ykit-", [1, 0, 0, 0, 1, 0x82] + [UInt8](repeating: 5, count: 33)),
            Bech32.encode("age-plugin-fido2-hmac-", [0, 2, 1]), "AGE-plugin-ykit-1",
        ])
    func refused(text: String) {
        #expect(throws: AgeError.self) { try AgeRecipient(parsing: text) }
        #expect(throws: AgeError.self) { try AgeIdentity(parsing: text) }
    }

    @Test("A credential has a salt of 32 bytes and an identifier")
    func credentials() {
        #expect(throws: AgeError.self) { try AgeCredential(salt: [1], id: [1], isVerified: false) }
        #expect(throws: AgeError.self) {
            try AgeCredential(salt: [UInt8](repeating: 1, count: 32), id: [], isVerified: false)
        }
        expect(AgeError.refused("why").description, is: "why")
        expect(AgePublicKey(.ed25519([1])), is: nil)
        expect(AgePublicKey(.ec(.p256, point: [4, 1])), is: nil)
    }
}

extension PublicKey {
    /// The point of a key on a curve.
    var point: [UInt8]? { if case .ec(_, let point) = self { point } else { nil } }
}
