// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKTestSupport
import YKWire

@testable import YKApproval

/// OCRA (RFC 6287): the vectors of its appendix C, of privacyIDEA, and of two other implementations.
struct OCRATests {
    private static let pin = "1234"
    /// 25 March 2008, 12:06:30 GMT.
    private static let time: Int64 = 0x132_d0b6 * 60

    private static func key(_ hash: HashAlgorithm) -> Secret {
        let digits = "1234567890123456789012345678901234567890123456789012345678901234"
        return Secret(Array(digits.utf8.prefix(hash.digestSize)))
    }

    private static func response(
        _ suite: String, _ challenges: [String], _ change: (inout OCRAInput) -> Void = { _ in }
    ) throws -> String {
        let suite = try OCRASuite(suite)
        var input = OCRAInput("")
        input.challenges = challenges
        if suite.pinHash != nil { input.pin = SharedSecret(Secret(utf8: pin)) }
        if suite.timeStep != nil { input.time = time }
        change(&input)
        return try suite.response(key(suite.hash), input)
    }

    @Test("The default suite of TiQR's own server, with its published vector")
    func session() throws {
        var input = OCRAInput("0000000000")
        input.session = Array(0x00...0x1F)
        for suite in ["OCRA-1:HOTP-SHA1-6:QH10-S", "OCRA-1:HOTP-SHA1-6:QH10-S064"] {
            try expect(OCRASuite(suite).sessionLength, is: 64)
        }
        let key = Secret(Array("12345678901234567890123456789012".utf8))
        try expect(OCRASuite("OCRA-1:HOTP-SHA1-6:QH10-S").response(key, input), is: "525367")
    }

    @Test(
        arguments: zip(
            0...9,
            [
                "237653", "243178", "653583", "740991", "608993", "388898", "816933", "224598", "750600", "294470",
            ]))
    func oneWay(_ digit: Int, _ response: String) throws {
        let challenge = String(repeating: "\(digit)", count: 8)
        try expect(Self.response("OCRA-1:HOTP-SHA1-6:QN08", [challenge]), is: response)
    }

    @Test(
        arguments: zip(
            UInt64(0)...9,
            [
                "65347737", "86775851", "78192410", "71565254", "10104329", "65983500", "70069104", "91771096",
                "75011558", "08522129",
            ]))
    func counterAndPIN(_ counter: UInt64, _ response: String) throws {
        try expect(
            Self.response("OCRA-1:HOTP-SHA256-8:C-QN08-PSHA1", ["12345678"]) { $0.counter = counter }, is: response)
    }

    @Test(arguments: zip(0...4, ["83238735", "01501458", "17957585", "86776967", "86807031"]))
    func pin(_ digit: Int, _ response: String) throws {
        let challenge = String(repeating: "\(digit)", count: 8)
        try expect(Self.response("OCRA-1:HOTP-SHA256-8:QN08-PSHA1", [challenge]), is: response)
    }

    @Test(
        arguments: zip(
            UInt64(0)...9,
            [
                "07016083", "63947962", "70123924", "25341727", "33203315", "34205738", "44343969", "51946085",
                "20403879", "31409299",
            ]))
    func counter(_ counter: UInt64, _ response: String) throws {
        let challenge = String(repeating: "\(counter)", count: 8)
        try expect(
            Self.response("OCRA-1:HOTP-SHA512-8:C-QN08", [challenge]) { $0.counter = counter }, is: response)
    }

    @Test(arguments: zip(0...4, ["95209754", "55907591", "22048402", "24218844", "36209546"]))
    func time(_ digit: Int, _ response: String) throws {
        let challenge = String(repeating: "\(digit)", count: 8)
        try expect(Self.response("OCRA-1:HOTP-SHA512-8:QN08-T1M", [challenge]), is: response)
    }

    @Test(
        arguments: [
            ("OCRA-1:HOTP-SHA256-8:QA08", ["28247970", "01984843", "65387857", "03351211", "83412541"], true),
            ("OCRA-1:HOTP-SHA256-8:QA08", ["15510767", "90175646", "33777207", "95285278", "28934924"], false),
            ("OCRA-1:HOTP-SHA512-8:QA08", ["79496648", "76831980", "12250499", "90856481", "12761449"], true),
            ("OCRA-1:HOTP-SHA512-8:QA08-PSHA1", ["18806276", "70020315", "01600026", "18951020", "32528969"], false),
        ])
    func mutual(_ suite: String, _ responses: [String], _ isServer: Bool) throws {
        for (number, response) in responses.enumerated() {
            let pair = ["CLI2222\(number)", "SRV1111\(number)"]
            try expect(Self.response(suite, isServer ? pair : pair.reversed()), is: response)
        }
    }

    @Test(
        arguments: [
            ("OCRA-1:HOTP-SHA256-8:QA08", "000", ["53095496", "04110475", "31331128", "76028668", "46554205"]),
            ("OCRA-1:HOTP-SHA512-8:QA10-T1M", "00000", ["77537423", "31970405", "10235557", "95213541", "65360607"]),
        ])
    func signature(_ suite: String, _ end: String, _ responses: [String]) throws {
        for (number, response) in responses.enumerated() {
            try expect(Self.response(suite, ["SIG1\(number)\(end)"]), is: response)
        }
    }

    @Test func otherImplementations() throws {
        let vectors = try Self.vectors("ocra-totp").array ?? []
        var count = 0
        for vector in vectors where vector["type"]?.string == "ocra" {
            let suite = try OCRASuite(try #require(vector["suite"]?.string))
            var input = OCRAInput(try #require(vector["question"]?.string))
            input.pin = vector["pin"]?.string.map { SharedSecret(Secret(utf8: $0)) }
            input.counter = vector["counter"]?.int.map { UInt64($0) }
            let key = try Hex.decode(try #require(vector["key_hex"]?.string))
            try expect(suite.response(Secret(key), input), is: vector["response"]?.string, "\(suite)")
            count += 1
        }
        expect(count, is: 21)
    }

    @Test func acceptedByPrivacyIDEA() throws {
        let vectors = try #require(try Self.vectors("privacyidea")["ocra"]?.array)
        expect(vectors.count, is: 8)
        for vector in vectors {
            let suite = try OCRASuite(try #require(vector["suite"]?.string))
            let key = try Hex.decode(try #require(vector["key"]?.string))
            let question = try #require(vector["question"]?.string)
            try expect(suite.response(Secret(key), OCRAInput(question)), is: vector["code"]?.string)
        }
        let suite = try OCRASuite("OCRA-1:HOTP-SHA256-8:QH40")
        let challenge = try suite.challenge(for: "12.50 CHF to ACME", .sha1)
        expect(challenge, is: "81ed34f20ed3fd710a02e96bebfd620a53634672")
        #expect(throws: ApprovalError.self) { try suite.challenge(for: "12.50 CHF to ACME", .sha256) }
        #expect(throws: ApprovalError.self) {
            try OCRASuite("OCRA-1:HOTP-SHA256-8:QA64").challenge(for: "12.50 CHF to ACME", .sha1)
        }
    }

    @Test func sessionAndWholeHMAC() throws {
        let suite = try OCRASuite("OCRA-1:HOTP-SHA256-0:QA08-S064")
        var input = OCRAInput("ABC")
        input.session = [1, 2, 3]
        let message = try suite.message(input)
        let name = Array("OCRA-1:HOTP-SHA256-0:QA08-S064".utf8)
        expect(message.count, is: name.count + 1 + 128 + 64)
        expect(Array(message.suffix(64)), is: [UInt8](repeating: 0, count: 61) + [1, 2, 3])
        let whole = try suite.response(Self.key(.sha256), input)
        expect(whole, is: Hex.encode(HashAlgorithm.sha256.hmac(key: Self.key(.sha256), message)))
        input.session = [UInt8](repeating: 1, count: 65)
        #expect(throws: ApprovalError.self) { try suite.message(input) }
    }

    @Test func oddNumberOfDigits() throws {
        let numeric = try OCRASuite("OCRA-1:HOTP-SHA1-6:QN10")
        let hexadecimal = try OCRASuite("OCRA-1:HOTP-SHA1-6:QH10")
        // 4096 is 1000 in hexadecimal digits, 256 is 100: a zero is added on the right.
        try expect(numeric.message(OCRAInput("256"))[24..<27], is: [0x10, 0x00, 0x00])
        try expect(hexadecimal.message(OCRAInput("abc"))[24..<27], is: [0xAB, 0xC0, 0x00])
        try expect(numeric.message(OCRAInput("0000000000"))[24..<152], is: [UInt8](repeating: 0, count: 128)[...])
        let long = try OCRASuite("OCRA-1:HOTP-SHA1-6:QN64")
        var input = OCRAInput(String(repeating: "9", count: 64))
        input.challenges.append(input.challenges[0])
        try expect(long.message(input).count, is: 24 + 128)
    }

    @Test(
        arguments: [
            "", "OCRA-1", "OCRA-2:HOTP-SHA1-6:QN08", "OCRA-1:HOTP-SHA1-6", "OCRA-1:HOTP-MD5-6:QN08",
            "OCRA-1:HOTP-SHA1-3:QN08", "OCRA-1:HOTP-SHA1-11:QN08", "OCRA-1:HOTP-SHA1-:QN08", "OCRA-1:TOTP-SHA1-6:QN08",
            "OCRA-1:HOTP-SHA1-6:", "OCRA-1:HOTP-SHA1-6:C", "OCRA-1:HOTP-SHA1-6:QX08", "OCRA-1:HOTP-SHA1-6:QN3",
            "OCRA-1:HOTP-SHA1-6:QN03", "OCRA-1:HOTP-SHA1-6:QN65", "OCRA-1:HOTP-SHA1-6:QN08-PMD5",
            "OCRA-1:HOTP-SHA1-6:QN08-S64", "OCRA-1:HOTP-SHA1-6:QN08-S000", "OCRA-1:HOTP-SHA1-6:QN08-S513",
            "OCRA-1:HOTP-SHA1-6:QN08-T0M", "OCRA-1:HOTP-SHA1-6:QN08-T60S", "OCRA-1:HOTP-SHA1-6:QN08-T49H",
            "OCRA-1:HOTP-SHA1-6:QN08-T1D", "OCRA-1:HOTP-SHA1-6:QN08-T1M-PSHA1", "OCRA-1:HOTP-SHA1-6:QN08-",
            "OCRA-1:HOTP-SHA1-6:QN08-PSHA1-PSHA1", "OCRA-1:HOTP-SHA1-6:C-C-QN08", "ocra-1:HOTP-SHA1-6:QN08",
            "OCRA-1:HOTP-SHA1-6:QN08:", "OCRA-1:HOTP-SHA1-+6:QN08", "OCRA-1:HOTP-SHA1-6:QN08-T99999999999999999999M",
        ])
    func badSuites(_ text: String) { #expect(throws: ApprovalError.self) { try OCRASuite(text) } }

    @Test(arguments: ["T59S", "T59M", "T1H", "T48H"])
    func timeSteps(_ step: String) throws {
        let suite = try OCRASuite("OCRA-1:HOTP-SHA1-6:QN08-\(step)")
        let wanted: [String: Int64] = ["T59S": 59, "T59M": 3540, "T1H": 3600, "T48H": 172_800]
        expect(suite.timeStep, is: wanted[step])
    }

    @Test func inputsThatDoNotFit() throws {
        let plain = try OCRASuite("OCRA-1:HOTP-SHA1-6:QN08")
        let timed = try OCRASuite("OCRA-1:HOTP-SHA1-6:QN08-T1M")
        func refused(_ suite: OCRASuite, _ change: (inout OCRAInput) -> Void) {
            var input = OCRAInput("12345678")
            change(&input)
            #expect(throws: ApprovalError.self) { try suite.response(Self.key(.sha1), input) }
        }
        refused(plain) { $0.counter = 1 }
        refused(plain) { $0.pin = SharedSecret(Secret(utf8: "1")) }
        refused(plain) { $0.session = [1] }
        refused(plain) { $0.time = 1 }
        refused(timed) { _ in }
        refused(timed) { $0.time = -1 }
        refused(plain) { $0.challenges = [] }
        refused(plain) { $0.challenges = [""] }
        refused(plain) { $0.challenges = ["123456789"] }
        refused(plain) { $0.challenges = ["1", "2", "3"] }
        refused(plain) { $0.challenges = ["12a"] }
        refused(try OCRASuite("OCRA-1:HOTP-SHA1-6:QH08")) { $0.challenges = ["12g"] }
        refused(try OCRASuite("OCRA-1:HOTP-SHA1-6:QA08")) { $0.challenges = ["é"] }
        #expect(throws: ApprovalError.self) { try plain.response(Secret([]), OCRAInput("1")) }
    }

    static func vectors(_ name: String) throws -> JSONValue {
        let url = try #require(Bundle.module.url(forResource: "vectors/\(name)", withExtension: "json"))
        return try JSONValue(parsing: Array(try Data(contentsOf: url)))
    }
}
