// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKOATH
import YKTestSupport
import YKTransport
import YKWire

struct PSKCTests {
    private static func shared(_ bytes: [UInt8]) -> PSKCUnlocking { .presharedKey(SharedSecret(Secret(bytes))) }
    private static func passphrase(_ text: String) -> PSKCUnlocking { .passphrase(SharedSecret(Secret(utf8: text))) }

    private static func account(_ result: Result<NewOATHAccount, PSKCError>) throws -> (NewOATHAccount, String) {
        let account = try result.get()
        return (account, String(decoding: account.secret.value.copyBytes(), as: UTF8.self))
    }

    @Test func opensFigure6() throws {
        let file = Array(Containers.figure6.utf8)
        #expect(PSKC.matches(file))
        try expect(PSKC.protection(of: file), is: .presharedKey(name: "Pre-shared-key"))
        let container = try PSKC(parsing: file, unlocking: Self.shared(Containers.figure6Key))
        let (account, secret) = try Self.account(container.keys[0].account)
        expect(secret, is: "12345678901234567890")
        expect(account.id, is: OATHAccountID(issuer: "Issuer", name: "12345678", type: .hotp))
        #expect(account.digits == 8 && account.algorithm == .sha1 && account.counter == 0)
        #expect(container.keys[0].serial == "987654321" && container.keys[0].id == "12345678")
    }

    @Test func opensFigure7() throws {
        let file = Array(Containers.figure7.utf8)
        try expect(PSKC.protection(of: file), is: .passphrase)
        let container = try PSKC(parsing: file, unlocking: Self.passphrase("qwerty"))
        try expect(Self.account(container.keys[0].account).1, is: "12345678901234567890")
    }

    private static let files: [(String, PSKCUnlocking?)] = [
        (Containers.plain, nil), (Containers.pbkdf2, passphrase("qwerty12")),
        (Containers.aes128, shared(Array(0..<16))), (Containers.aes192, shared(Array(0..<24))),
        (Containers.aes256, shared(Array(0..<32))),
    ]

    @Test(arguments: files)
    func opensWhatPythonWrote(_ text: String, _ unlocking: PSKCUnlocking?) throws {
        let container = try PSKC(parsing: Array(text.utf8), unlocking: unlocking)
        expect(container.keys.map(\.id), is: ["k1", "k2", "k3"])
        let (first, firstSecret) = try Self.account(container.keys[0].account)
        expect(first.id, is: OATHAccountID(issuer: "Acme", name: "alice@example.com", period: .seconds(60)))
        #expect(first.digits == 8 && first.algorithm == .sha256)
        expect(firstSecret, is: "12345678901234567890")
        let (second, secondSecret) = try Self.account(container.keys[1].account)
        expect(second.id, is: OATHAccountID(issuer: "Acme", name: "bob", type: .hotp))
        #expect(second.counter == 7 && secondSecret == "abcdefghijklmnopqrst")
        #expect(throws: PSKCError.unsupportedAlgorithm("urn:ietf:params:xml:ns:keyprov:pskc:pin")) {
            _ = try container.keys[2].account.get()
        }
    }

    @Test("a code that was removed, or a method without a code, does not let changed secrets in (RFC 6030 §6.1.1)")
    func codesCannotBeRemoved() throws {
        let text = Containers.figure6
        let start = try #require(text.range(of: "<ValueMAC>") ?? text.range(of: "<pskc:ValueMAC>"))
        let end = try #require(text.range(of: "</ValueMAC>") ?? text.range(of: "</pskc:ValueMAC>"))
        let without = text.replacingCharacters(in: start.lowerBound..<end.upperBound, with: "")
        let container = try PSKC(parsing: Array(without.utf8), unlocking: Self.shared(Containers.figure6Key))
        #expect(throws: PSKCError.field("ValueMAC", "")) { _ = try container.keys[0].account.get() }
    }

    @Test func aWrongKeyIsWrong() throws {
        let wrong: [(String, PSKCUnlocking?, PSKCError)] = [
            (Containers.figure7, Self.passphrase("qwertz"), .wrongKey),
            (Containers.figure6, Self.shared([UInt8](repeating: 1, count: 16)), .wrongKey),
            (Containers.figure6, Self.shared([1, 2, 3]), .wrongKey),
            (Containers.figure6, nil, .needsKey(.presharedKey(name: "Pre-shared-key"))),
            (Containers.figure7, nil, .needsKey(.passphrase)),
            (Containers.figure7, Self.shared(Containers.figure6Key), .needsKey(.passphrase)),
            (Containers.figure6, Self.passphrase("x"), .needsKey(.presharedKey(name: "Pre-shared-key"))),
        ]
        for (text, unlocking, error) in wrong {
            #expect(throws: error) { try PSKC(parsing: Array(text.utf8), unlocking: unlocking) }
        }
    }

    @Test("a cancelled reading of an encrypted file derives no key")
    func cancelled() {
        let cancellation = Cancellation()
        cancellation.cancel()
        #expect(throws: PSKCError.cancelled) {
            try PSKC(
                parsing: Array(Containers.figure7.utf8), unlocking: Self.passphrase("test-password"),
                cancellation: cancellation)
        }
    }

    @Test func aChangedFileIsWrong() throws {
        for (old, new) in [("AAECAwQF", "AAECAwQG"), ("Su+NvtQf", "Su+NvtQg"), ("ESIzRFVm", "ESIzRFVn")] {
            let text = Containers.figure6.replacing(old, with: new)
            #expect(throws: PSKCError.wrongKey) {
                try PSKC(parsing: Array(text.utf8), unlocking: Self.shared(Containers.figure6Key))
            }
        }
    }

    private static let changes: [(String, String, PSKCError)] = [
        ("KeyContainer", "KeyHolder", .field("KeyContainer", "")),
        (
            "#pbkdf2", "#scrypt",
            .unsupportedAlgorithm("http://www.rsasecurity.com/rsalabs/pkcs/schemas/pkcs-5v2-0#scrypt")
        ),
        ("1000<", "99999999999<", .field("IterationCount", "99999999999")),
        ("1000<", "-1<", .field("IterationCount", "-1")),
        (">16<", ">8<", .field("KeyLength", "8")),
        ("PBKDF2-params", "params", .field("PBKDF2-params", "")),
        ("Specified", "Other", .field("Salt", "")),
        ("Ej7/PEpyEpw=", "***", .field("Salt", "not base64")),
        ("<PRF/>", "<PRF Algorithm=\"#hmac-md5\"/>", .unsupportedAlgorithm("")),
        ("#hmac-sha1", "#hmac-md5", .unsupportedAlgorithm("http://www.w3.org/2000/09/xmldsig#hmac-md5")),
        ("#aes128-cbc", "#kw-tripledes", .unsupportedAlgorithm("http://www.w3.org/2001/04/xmlenc#kw-tripledes")),
        ("#aes128-cbc", "#kw-aes128", .wrongKey), ("#aes128-cbc", "#kw-aes256", .wrongKey),
        ("CipherValue", "Cipher", .field("CipherValue", "")),
    ]

    @Test(arguments: changes)
    func aContainerThatIsNotUnderstood(_ old: String, _ new: String, _ error: PSKCError) throws {
        let text = Containers.figure7.replacing(old, with: new)
        #expect(throws: error) { try PSKC(parsing: Array(text.utf8), unlocking: Self.passphrase("qwerty")) }
    }

    private static let keyChanges: [(String, String, PSKCError)] = [
        ("Length=\"8\"", "Length=\"99\"", .field("Length", "99")),
        ("DECIMAL\" Length=\"8", "ALPHANUMERIC\" Length=\"8", .field("Encoding", "ALPHANUMERIC")),
        ("HMAC-SHA256", "HMAC-MD5", .unsupportedAlgorithm("HMAC-MD5")),
        (">60<", ">0<", .field("TimeInterval", "0")), (">60<", ">x<", .field("TimeInterval", "")),
        ("<pskc:PlainValue>MTIz", "<pskc:PlainValue>*", .field("Secret", "not base64")),
        ("pskc:totp", "pskc:ocra", .unsupportedAlgorithm("urn:ietf:params:xml:ns:keyprov:pskc:ocra")),
    ]

    @Test(arguments: keyChanges)
    func aKeyThatIsNotUnderstoodLeavesTheOthers(_ old: String, _ new: String, _ error: PSKCError) throws {
        let text = Containers.plain.replacing(old, with: new)
        let keys = try PSKC(parsing: Array(text.utf8)).keys
        #expect(throws: error) { _ = try keys[0].account.get() }
        try expect(keys[1].account.get().counter, is: 7)
    }

    @Test func namesComeFromWhatThereIs() throws {
        func id(_ inside: String, _ attributes: String = "") throws -> OATHAccountID {
            let text = """
                <KeyContainer><KeyPackage><DeviceInfo><SerialNo>4711</SerialNo></DeviceInfo>\
                <Key Algorithm="totp" \(attributes)>\(inside)<Data><Secret><PlainValue>MTIz</PlainValue></Secret></Data>\
                </Key></KeyPackage></KeyContainer>
                """
            return try PSKC(parsing: Array(text.utf8)).keys[0].account.get().id
        }
        try expect(id("").text, is: "4711")
        try expect(id("", "Id='7'").text, is: "7")
        try expect(id("<FriendlyName>Acme:bob</FriendlyName>").text, is: "Acme:bob")
        try expect(id("<Issuer>Acme</Issuer><FriendlyName>Acme:bob</FriendlyName>").text, is: "Acme:bob")
        try expect(id("<Issuer>Acme</Issuer><UserId>O=x, CN=b\\,ob+L=y</UserId>").text, is: "Acme:b,ob")
        try expect(id("<UserId>bob</UserId>").text, is: "bob")
    }

    @Test(arguments: [passphrase("correct horse"), shared(Array(0..<16)), shared(Array(0..<24)), shared(Array(0..<32))])
    func opensWhatItWrote(_ unlocking: PSKCUnlocking) throws {
        let accounts = [
            Virtual.account(" a,b\"<&>'", issuer: "Äcme & Söhne", period: 45, algorithm: .sha512, digits: 7),
            Virtual.account("#counter+x ", type: .hotp, counter: 9),
        ]
        let file = try PSKC.write(accounts, serial: "16777217", locking: unlocking, random: SystemRandom())
        #expect(!String(decoding: file, as: UTF8.self).contains(Base64.encode(Array("12345678901234567890".utf8))))
        let read = try PSKC(parsing: file, unlocking: unlocking)
        for (key, account) in zip(read.keys, accounts) {
            let (found, secret) = try Self.account(key.account)
            #expect(found.id == account.id && found.digits == account.digits && found.counter == account.counter)
            #expect(found.algorithm == account.algorithm && secret == "12345678901234567890")
            expect(key.serial, is: "16777217")
        }
    }

    @Test func cannotWriteUnderAKeyOfAnotherSize() {
        #expect(throws: PSKCError.wrongKey) {
            try PSKC.write([], locking: Self.shared([1]), random: SystemRandom())
        }
    }

    @Test func everyPieceOfAFileIsAnErrorOrAContainer() {
        for text in [Containers.figure6, Containers.plain] {
            let bytes = Array(text.utf8)
            for count in stride(from: 0, to: bytes.count, by: 3) {
                #expect(throws: PSKCError.self) {
                    try PSKC(parsing: Array(bytes.prefix(count)), unlocking: Self.shared(Containers.figure6Key))
                }
                var changed = bytes
                changed[count] = 0xFF
                _ = try? PSKC(parsing: changed, unlocking: Self.shared(Containers.figure6Key))
                changed[count] = UInt8(ascii: "<")
                _ = try? PSKC(parsing: changed, unlocking: Self.shared(Containers.figure6Key))
            }
        }
    }
}
