// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKOATH
import YKTestSupport
import YKWire

struct MigrationTests {
    @Test func readsWhatItWrites() throws {
        let accounts = [
            Virtual.account("alice@example.com", issuer: "Acme"),
            Virtual.account("bob", issuer: "Ä", algorithm: .sha256, digits: 8),
            Virtual.account("carol", type: .hotp, algorithm: .sha512, digits: 7, counter: 300),
        ]
        let payload = MigrationPayload(accounts: accounts, batchSize: 3, batchIndex: 2, batchID: 123_456)
        let read = try MigrationPayload(parsing: " \(payload.text)\n")
        #expect(read.version == 1 && read.batchSize == 3 && read.batchIndex == 2 && read.batchID == 123_456)
        expect(read.accounts.map(\.id), is: accounts.map(\.id))
        expect(read.accounts.map(\.digits), is: [6, 8, 7])
        expect(read.accounts.map(\.algorithm), is: [.sha1, .sha256, .sha512])
        expect(read.accounts.map(\.counter), is: [0, 0, 300])
        expect(read.accounts[0].secret.value.copyBytes(), is: Array("12345678901234567890".utf8))
        #expect(MigrationPayload.matches(payload.text) && !MigrationPayload.matches("otpauth://totp/a"))
    }

    /// An export put together by hand: secret "Hello!" DEADBEEF, name "Example:alice@google.com", issuer "Example".
    @Test func readsAnExportOfAnotherProgram() throws {
        let text =
            "otpauth-migration://offline?data=CjEKCkhlbGxvId6tvu8SGEV4YW1wbGU6YWxpY2VAZ29vZ2xlLmNvbRoHRXhhbXBsZTAC"
        for text in [
            text, text.replacing("CjE", with: "%43jE"), text + "&x=1",
            "otpauth-migration://offline/?x=1&" + text.split(separator: "?")[1],
        ] {
            let payload = try MigrationPayload(parsing: text)
            expect(payload.accounts.map(\.id), is: [OATHAccountID(issuer: "Example", name: "alice@google.com")])
            expect(Hex.encode(payload.accounts[0].secret.value.copyBytes()), is: "48656c6c6f21deadbeef")
            expect(payload.batchSize, is: 1)
        }
    }

    @Test func skipsFieldsItDoesNotKnow() throws {
        let account = "0a0141" + "120161" + "3801" + "420178" + "4d00000000" + "510000000000000000"
        let payload = try MigrationPayload(decoding: Hex.decode("0a19\(account)" + "780a" + "1001"))
        expect(payload.accounts.map(\.id.name), is: ["a"])
    }

    @Test("an account without a name is called by its issuer, which a name may repeat in another case")
    func names() throws {
        for (hex, name) in [("0a060a01411a0147", "G"), ("0a0d0a0141120467693a621a024769", "Gi:b")] {
            try expect(MigrationPayload(decoding: Hex.decode(hex)).accounts.map(\.id.text), is: [name])
        }
    }

    private static let texts: [(String, MigrationError)] = [
        ("", .notMigration), ("otpauth://totp/a?data=AA", .notMigration),
        ("otpauth-migration://offline", .notMigration), ("otpauth-migration://offline?data", .notMigration),
        ("otpauth-migration://online?data=AA", .notMigration),
        ("otpauth-migration://offline?data=*", .badBase64(WireError(.malformed, at: 0, "not a base64 character"))),
        ("otpauth-migration://offline?data=A", .badBase64(WireError(.truncated, at: 1, "incomplete base64"))),
        ("otpauth-migration://offline?data=%", .badBase64(WireError(.malformed, at: 0, "not percent-encoded"))),
    ]

    @Test(arguments: texts)
    func refusesTexts(_ text: String, _ error: MigrationError) {
        #expect(throws: error) { try MigrationPayload(parsing: text) }
    }

    private static let payloads: [(String, MigrationError)] = [
        ("0a", .malformed(WireError(.truncated, at: 1, "expected a number of 1 bytes, 0 left"))),
        ("0a05", .malformed(WireError(.truncated, at: 2, "expected field 1 of 5 bytes, 0 left"))),
        ("0affffffffffffffffff01", .malformed(WireError(.tooLarge, at: 1, "a length beyond the message"))),
        ("10ffffffffffffffffffff", .malformed(WireError(.tooLarge, at: 1, "a number of more than 64 bits"))),
        ("10ffffffffffffffffff02", .malformed(WireError(.tooLarge, at: 1, "a number of more than 64 bits"))),
        ("0b", .malformed(WireError(.malformed, at: 0, "wire type 3"))),
        ("00", .malformed(WireError(.malformed, at: 0, "field number 0"))),
    ]

    private static let accounts: [(String, OtpauthError)] = [
        ("0a00", OtpauthError(.secret, .empty)),
        ("0a030a0141", OtpauthError(.label, .empty)),
        ("0a060a01411201ff", OtpauthError(.label, .badEncoding)),
        ("0a090a01411201611a01ff", OtpauthError(.issuer, .badEncoding)),
        ("0a080a01411201612004", OtpauthError(.algorithm, .notUnderstood("MD5"))),
        ("0a080a01411201612009", OtpauthError(.algorithm, .notUnderstood("9"))),
        ("0a080a01411201612809", OtpauthError(.digits, .notUnderstood("9"))),
        ("0a080a01411201613009", OtpauthError(.type, .notUnderstood("9"))),
        (
            "0a0e0a0141120161300138ffffffff7f",
            OtpauthError(.counter, .outOfRange("34359738367", 0...4_294_967_295))
        ),
    ]

    @Test(arguments: payloads)
    func refusesPayloads(_ hex: String, _ error: MigrationError) throws {
        let bytes = try Hex.decode(hex)
        #expect(throws: error) { try MigrationPayload(decoding: bytes) }
    }

    @Test(arguments: accounts)
    func setsAsideWhatCannotBeUsed(_ hex: String, _ error: OtpauthError) throws {
        let good = "0a060a0141120161"
        let payload = try MigrationPayload(decoding: Hex.decode(good + hex + good))
        expect(payload.unusable, is: [.account(1, error)])
        expect(payload.accounts.map(\.id.name), is: ["a", "a"])
    }

    @Test func isNotTooLarge() {
        #expect(throws: MigrationError.self) {
            try MigrationPayload(decoding: [UInt8](repeating: 0, count: MigrationPayload.byteLimit + 1))
        }
        let long = String(repeating: "A", count: MigrationPayload.byteLimit * 2 + 1)
        #expect(throws: MigrationError.self) {
            try MigrationPayload(parsing: "otpauth-migration://offline?data=\(long)")
        }
    }

    @Test func everyCutAndEveryLengthByteIsAnErrorOrAPayload() {
        let bytes = MigrationPayload(accounts: [Virtual.account("alice", issuer: "Acme", type: .hotp, counter: 5)])
            .encoded
        for position in bytes.indices {
            _ = try? MigrationPayload(decoding: Array(bytes.prefix(position)))
            for value: UInt8 in [0, 0x7F, 0x80, 0xFF] {
                var changed = bytes
                changed[position] = value
                _ = try? MigrationPayload(decoding: changed)
            }
        }
    }

    @Test("the QR codes of an export that are missing are counted")
    func parts() throws {
        func part(_ index: Int, of size: Int, batch: Int = 1) -> MigrationPart? {
            MigrationPayload(accounts: [], batchSize: size, batchIndex: index, batchID: batch).part
        }
        let first = try #require(part(0, of: 3))
        #expect(first.number == 1 && first.count == 3)
        expect(MigrationPart.gaps(among: [first]).map(\.missing), is: [[2, 3]])
        let all = [2, 0, 1].compactMap { part($0, of: 3) }
        #expect(MigrationPart.gaps(among: all).isEmpty && MigrationPart.gaps(among: []).isEmpty)
        let two = [part(0, of: 2), part(1, of: 2, batch: 2)].compactMap { $0 }
        expect(MigrationPart.gaps(among: two).map(\.missing), is: [[2], [1]])
        for (index, size) in [(0, 1), (0, 0), (3, 3), (-1, 3), (0, 1 << 40)] { expect(part(index, of: size), is: nil) }
    }
}
