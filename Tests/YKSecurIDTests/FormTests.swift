// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKTestSupport
import YKTransport
import YKWire

@testable import YKSecurID

struct FormTests {
    static func token(
        _ type: SecurIDTokenType = .pinpad, digits: Int = 8, interval: Duration = .seconds(60)
    ) throws -> SecurIDToken {
        try SecurIDToken(
            serial: "000123456789", seed: SharedSecret(Secret((0..<16).map { UInt8($0 * 3) })), digits: digits,
            interval: interval, type: type, expiry: UTCDate(2036, 12, 31), nickname: "desk & <lamp>", user: "al",
            deviceID: nil)
    }

    private func same(_ left: SecurIDToken, _ right: SecurIDToken) -> Bool {
        left.serial == right.serial && left.seed.value == right.seed.value && left.digits == right.digits
            && left.interval == right.interval && (left.type == .pinpad) == (right.type == .pinpad)
            && left.expiry == right.expiry
    }

    /// Version, password and device of a string.
    struct Protection: Sendable {
        let version: Int
        let password, device: String?
        static let all = [3, 4].flatMap { version in
            [nil, "p w"].flatMap { password in
                [nil, "3eea958d96caa2538ccc8964"].map { Protection(version: version, password: password, device: $0) }
            }
        }
    }

    @Test(arguments: Protection.all) func alphanumericStringsComeBack(_ protection: Protection) throws {
        let (version, password, device) = (protection.version, protection.password, protection.device)
        let token = try Self.token(digits: 6, interval: .seconds(30))
        let text = try AlphanumericCTF.text(
            token, password: password.map { SharedSecret(Secret(utf8: $0)) }, deviceID: device, version: version,
            CountingRandom(from: 1))
        let string = String(decoding: text.value.copyBytes(), as: UTF8.self)
        let url = SecurIDLink.text(ctf: string, scheme: version == 3 ? "http" : "com.example")
        let input = try SecurIDInput(parsing: Array(url.utf8))
        #expect(input.form == "ctf-v\(version)" && input.isProtected == (password != nil))
        #expect(input.isBound == (device != nil) && input.serials.isEmpty)
        let keys = SecurIDKeys(
            password: password.map { SharedSecret(Secret(utf8: $0)) }, deviceIDs: [device].compactMap { $0 })
        let read = try #require(try input.tokens(keys).first)
        #expect(same(read, token) && read.deviceID == device)
    }

    @Test(arguments: [nil, "p w"], SecurIDTokenType.allCases)
    func filesComeBack(_ password: String?, _ type: SecurIDTokenType) throws {
        let token = try Self.token(type)
        let text = try SDTIDBatch.text(
            token, password: password.map { SharedSecret(Secret(utf8: $0)) }, CountingRandom(from: 1))
        let batch = try SDTIDBatch(parsing: text.value.copyBytes())
        expect(batch.serials, is: [token.serial])
        let keys = SecurIDKeys(password: password.map { SharedSecret(Secret(utf8: $0)) })
        let read = try #require(try batch.tokens(keys).first)
        #expect(same(read, token) && read.type == type && read.nickname == token.nickname && read.user == "al")
        if password != nil {
            #expect(throws: SecurIDError.passwordNeeded) { _ = try batch.tokens() }
        }
        #expect(throws: SecurIDError.noSuchToken("1")) { _ = try batch.tokens(keys, ["1"]) }
    }

    @Test(arguments: [
        ("", "format"), ("hello", "format"), ("Aw", "format"), ("AwAA", "format"), ("A%", "format"), ("3123", "format"),
        ("1", "format"), ("ctfData=", "format"), ("ctfData=xyz", "format"), ("<?xml version='1.0'?>", "xml"),
        ("<?xml version='1.0'?><a/>", "format"), ("<?xml version='1.0'?><TKNBatch/>", "field"),
        ("<?xml version='1.0'?><TKNBatch><TKNHeader/></TKNBatch>", "field"),
        ("<?xml version='1.0'?><TKNBatch><TKNHeader/><TKN/></TKNBatch>", "field"),
        (
            "<?xml version='1.0'?><TKNBatch><TKNHeader/><TKN><SN>12</SN></TKN><TKN><SN>012</SN></TKN></TKNBatch>",
            "format"
        ),
        ("<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><TKNBatch/>", "xml"), ("version 2\ntoken 1", "format"),
        ("version 1", "format"),
        ("x://ctkip?url=https%3A%2F%2Fexample.com&activationCode=a-!", "activation"),
        ("x://ctkip?url=https://e.com/\(String(repeating: "a", count: 1024))", "long"),
        ("x://ctf?ctfData=2\(String(repeating: "1", count: 1024))", "long"),
    ])
    func refuses(_ text: String, _ kind: String) {
        let error = #expect(throws: SecurIDError.self) {
            _ = try SecurIDInput(parsing: Array(text.utf8)).tokens()
        }
        switch (kind, error) {
        case ("format", .format), ("xml", .xml), ("field", .field), ("activation", .activationCode),
            ("long", .tooLong):
            break
        default: Issue.record("\(String(describing: error)) for \(text.prefix(60))")
        }
    }

    @Test func checksActivationCodes() throws {
        try expect(ActivationCode(" 12-34 ").text, is: "1234")
        #expect(throws: SecurIDError.activationCode) { _ = try ActivationCode("") }
        #expect(throws: SecurIDError.activationCode) { _ = try ActivationCode("a\r\nb") }
        #expect(throws: SecurIDError.tooLong("activation code", limit: 40)) {
            _ = try ActivationCode(String(repeating: "1", count: 41))
        }
    }

    @Test func saysThatThereAreNoRandomBytes() throws {
        #expect(throws: SecurIDError.random) { _ = try DeviceBinding.makeID(FailingRandom()) }
        let token = try FormTests.token()
        #expect(throws: SecurIDError.random) { _ = try AlphanumericCTF.text(token, FailingRandom()) }
        #expect(throws: SecurIDError.random) { _ = try SDTIDBatch.text(token, FailingRandom()) }
    }

    @Test func refusesBytesThatAreNotText() {
        #expect(throws: SecurIDError.self) { _ = try SecurIDInput(parsing: [0x32, 0xFF]) }
        #expect(throws: SecurIDError.self) { _ = try SecurIDInput(parsing: [UInt8](repeating: 0x31, count: 5 << 20)) }
    }

    @Test func readsFileOfStoken() throws {
        let digits = Vector.good[0].input
        let plain = try SecurIDInput(parsing: Array("# c\nversion 1\ntoken \(digits)\npin 1234\n".utf8))
        guard case .stoken(let file) = plain else {
            Issue.record("not the file of stoken")
            return
        }
        #expect(plain.form == "stokenrc" && plain.serials == ["005222161430"] && plain.isProtected == false)
        #expect(!plain.isBound && file.hasPIN)
        try expect(file.pin(nil).map { $0.value == Secret(utf8: "1234") }, is: true)
        try expect(plain.tokens().count, is: 1)
        // A PIN that is saved with a password: vector bytes, then PIN, zeros and length under the password's hash.
        let vector = [UInt8](repeating: 7, count: 16)
        let block = Array("98765".utf8).fitted(15) + [5]
        let key = Secret(AESHash.hash(Array("pw".utf8)))
        let sealed = try BlockCipher.aes.encrypt(zip(vector, block).map { $0 ^ $1 }, key: key)
        let text = "version 1\ntoken \(digits)\npin \(Hex.encode(vector + sealed))\n"
        let locked = try #require(try StokenFile(matching: text))
        try expect(locked.pin(SharedSecret(Secret(utf8: "pw"))).map { $0.value == Secret(utf8: "98765") }, is: true)
        #expect(throws: SecurIDError.passwordNeeded) { _ = try locked.pin(nil) }
        #expect(throws: SecurIDError.wrongPassword) { _ = try locked.pin(SharedSecret(Secret(utf8: "no"))) }
        let damaged = "version 1\ntoken \(digits)\npin \(String(repeating: "x", count: 64))\n"
        #expect(throws: SecurIDError.field("pin")) {
            _ = try StokenFile(matching: damaged)?.pin(SharedSecret(Secret(utf8: "pw")))
        }
        #expect(try StokenFile(matching: "version 1\ntoken \(digits)\n")?.pin(nil) == nil)
    }

    @Test func recognizesLinks() throws {
        expect(SecurIDLink("com.x://ctf?ctfData=1")?.kind, is: .ctf)
        expect(SecurIDLink("com.x://ctf?ctfData=1", scheme: "COM.X")?.scheme, is: "com.x")
        expect(SecurIDLink("com.x://ctf?ctfData=1", scheme: "other"), is: nil)
        #expect(SecurIDLink("com.x://ctf?ctfData=") == nil && SecurIDLink("com.x://ctkip?ctfData=1") == nil)
        expect(SecurIDLink("http://127.0.0.1/securid/ctkip?scheme=https&url=a")?.kind, is: .ctkip)
        // The newest form of servers names the service in a link of the path ctf.
        let newest = "http://127.0.0.1/securid/ctf?schema=https&url=h.example:443/ctkip/services/CtkipService"
        expect(SecurIDLink(newest)?.kind, is: .ctkip)
        try expect(CTKIPLink(matching: newest)?.server, is: "https://h.example:443/ctkip/services/CtkipService")
        try expect(SecurIDInput(parsing: Array(newest.utf8)).form, is: "ctkip")
        expect(SecurIDLink("http://127.0.0.1/securid/ctf?schema=https&url="), is: nil)
        #expect(SecurIDLink("com.x://else?url=1") == nil && SecurIDLink("ctf") == nil && SecurIDLink("!://ctf") == nil)
        let text = "http://127.0.0.1/securid/ctkip?scheme=https&url=h%3A7004/p&activationCode=1-2"
        let link = try #require(try CTKIPLink(matching: text))
        #expect(link.server == "https://h:7004/p" && link.code?.text == "12")
        try expect(SecurIDInput(parsing: Array("x://ctkip?url=https://h/p".utf8)).form, is: "ctkip")
        #expect(try SecurIDInput(parsing: Array("x://ctkip?url=https://h/p".utf8)).tokens().isEmpty)
    }

    @Test func checksPINs() throws {
        func rule(_ pin: String, _ type: SecurIDTokenType) -> SecurIDError? {
            do {
                _ = try SecurIDPIN(Secret(utf8: pin), for: type)
                return nil
            } catch { return error }
        }
        #expect(rule("123", .pinpad) == .pin(.length) && rule("123456789", .keyfob) == .pin(.length))
        #expect(rule("12a4", .pinpad) == .pin(.digits) && rule("12 4", .keyfob) == .pin(.characters))
        #expect(rule("", .pinless) == nil && rule("ab12", .keyfob) == nil && rule("0000", .pinpad) == nil)
        let time: Int64 = 1_735_689_600
        let plain = try Self.token().tokencode(at: time).code
        try expect(
            Self.token().tokencode(at: time, pin: SecurIDPIN(Secret(utf8: "0000"), for: .pinpad)).code, is: plain)
        #expect(
            try Self.token(.keyfob).tokencode(at: time, pin: SecurIDPIN(Secret(utf8: "ab12"), for: .keyfob)).code
                == "ab12" + plain)
        #expect(
            try Self.token(.pinless).tokencode(at: time, pin: SecurIDPIN(Secret(utf8: "x"), for: .pinless)).code
                == plain)
        #expect(throws: SecurIDError.pin(.digits)) {
            _ = try Self.token().tokencode(at: time, pin: SecurIDPIN(Secret(utf8: "ab12"), for: .keyfob))
        }
        #expect(throws: SecurIDError.field("time")) { _ = try Self.token().tokencode(at: -1) }
        #expect(throws: SecurIDError.field("time")) { _ = try Self.token().tokencode(at: .max) }
    }

    @Test func expiresAtMidnight() throws {
        let token = try Self.token()
        let end = try #require(UTCDate(2036, 12, 31)).seconds
        #expect(!token.isExpired(at: end - 1) && token.isExpired(at: end))
        try expect(token.tokencode(at: end, allowsExpired: true).code.count, is: 8)
        #expect(throws: SecurIDError.expired(serial: token.serial, UTCDate(seconds: end))) {
            _ = try token.tokencode(at: end)
        }
    }

    @Test func refusesFieldsOutsideTheirRange() {
        func make(_ serial: String, _ seed: Int, _ digits: Int, _ interval: Int) -> SecurIDError? {
            do {
                _ = try SecurIDToken(
                    serial: serial, seed: SharedSecret(Secret([UInt8](repeating: 0, count: seed))), digits: digits,
                    interval: .seconds(interval), type: .pinpad, expiry: nil)
                return nil
            } catch { return error }
        }
        #expect(
            make("1", 16, 8, 60) == .field("serial number")
                && make("00000000000a", 16, 8, 60) == .field("serial number"))
        #expect(
            make("000000000001", 15, 8, 60) == .field("seed") && make("000000000001", 16, 0, 60) == .field("digits"))
        #expect(make("000000000001", 16, 8, 45) == .field("interval") && make("000000000001", 16, 8, 30) == nil)
    }

    @Test func bindsToDevices() throws {
        #expect(DeviceBinding.isID(try DeviceBinding.makeID(SystemRandom())) && !DeviceBinding.isID("12"))
        #expect(DeviceBinding.matches("ab-CD", "ABCD") && !DeviceBinding.matches("a", "b"))
        let long = SharedSecret(Secret([UInt8](repeating: 0x61, count: 41)))
        #expect(throws: SecurIDError.tooLong("password", limit: 40)) {
            _ = try SecurIDInput(parsing: Array(Vector.good[0].input.utf8)).tokens(SecurIDKeys(password: long))
        }
        #expect(throws: SecurIDError.tooLong("password", limit: 40)) {
            _ = try AlphanumericCTF.text(Self.token(), password: long, CountingRandom(from: 1))
        }
        #expect(throws: SecurIDError.tooLong("password", limit: 40)) {
            _ = try SDTIDBatch.text(Self.token(), password: long, CountingRandom(from: 1))
        }
        // A class of devices needs no identifier.
        let text = try AlphanumericCTF.text(Self.token(), deviceID: DeviceBinding.classes[1], CountingRandom(from: 1))
        try expect(SecurIDInput(parsing: text.value.copyBytes()).tokens().count, is: 1)
    }
}
