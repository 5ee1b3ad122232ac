// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKWire

@testable import YKOATH

struct CodecTests {
    @Test(arguments: [
        ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("fooba", "MZXW6YTB"),
        ("foobar", "MZXW6YTBOI"),
    ])
    func base32(_ text: String, _ encoded: String) throws {
        expect(Base32.encode(Array(text.utf8)), is: encoded)
        try expect(Base32.decode(encoded), is: Array(text.utf8))
        try expect(Base32.decode(" \(encoded.lowercased())\t==\n"), is: Array(text.utf8))
    }

    @Test(arguments: ["A", "AAA", "AAAAAA", "A0", "A8", "AÄ", "==A"])
    func notBase32(_ text: String) { #expect(throws: WireError.self) { try Base32.decode(text) } }

    @Test func base32RoundTrip() throws {
        for count in 0...70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
            try expect(Base32.decode(Base32.encode(bytes)), is: bytes)
        }
    }

    private static let names: [(String, OATHType, String?, String, Int)] = [
        ("alice", .totp, nil, "alice", 30), ("Acme:alice", .totp, "Acme", "alice", 30),
        ("60/Acme:alice", .totp, "Acme", "alice", 60), ("60/alice", .totp, nil, "alice", 60),
        ("60/Acme:alice", .hotp, "60/Acme", "alice", 30), ("Acme:a:b", .totp, "Acme", "a:b", 30),
        (":alice", .totp, nil, ":alice", 30), ("alice:", .totp, nil, "alice:", 30), ("", .totp, nil, "", 30),
        ("0/alice", .totp, nil, "0/alice", 30), ("60/", .totp, nil, "60/", 30), ("/a", .totp, nil, "/a", 30),
        ("99999999999999999999/a", .totp, nil, "99999999999999999999/a", 30), ("6x/a", .totp, nil, "6x/a", 30),
        ("+6/a", .totp, nil, "+6/a", 30), ("2147483647/a", .totp, nil, "a", 2_147_483_647),
    ]

    @Test(arguments: names)
    func accountNames(_ raw: String, _ type: OATHType, _ issuer: String?, _ name: String, _ period: Int) {
        let id = OATHAccountID(rawName: Array(raw.utf8), type: type)
        #expect(id.issuer == issuer && id.name == name && id.period == .seconds(period))
        expect(OATHAccountID(issuer: issuer, name: name, period: .seconds(period), type: type), is: id)
    }

    @Test func aNameThatLooksLikeAPeriodGetsOne() {
        let id = OATHAccountID(issuer: "60/Acme", name: "alice")
        expect(String(decoding: id.rawName, as: UTF8.self), is: "30/60/Acme:alice")
        #expect(id.issuer == "60/Acme" && id.period == .seconds(30))
    }

    @Test func namesOfSpecialAccounts() {
        #expect(OATHAccountID(issuer: "_hidden", name: "a").isHidden)
        #expect(!OATHAccountID(issuer: "Acme", name: "_hidden").isHidden)
        #expect(OATHAccountID(issuer: "STEAM", name: "a").isSteam)
        #expect(!OATHAccountID(issuer: "Steam", name: "a", type: .hotp).isSteam)
        expect(OATHAccountID(issuer: "", name: "a").description, is: "a")
        expect(OATHAccountID(rawName: [0xFF, 0x3A, 0x61]).text, is: "\u{FFFD}:a")
        expect(OATHAccountID(rawName: [0xFF, 0x3A, 0x61]).rawName, is: [0xFF, 0x3A, 0x61])
    }

    @Test func kindsHaveNames() {
        expect([OATHType.totp, .hotp, OATHType(rawValue: 0x35)].map(\.description), is: ["TOTP", "HOTP", "type 3"])
        expect(
            (OATHAlgorithm.known + [OATHAlgorithm(rawValue: 0x29)]).map(\.description),
            is: [
                "SHA1", "SHA256", "SHA512", "algorithm 9",
            ])
        #expect(OATHAlgorithm(name: "hmac_sha-1") == .sha1 && OATHAlgorithm(name: "sha") == nil)
        expect(OATHAlgorithm(rawValue: 9).hash, is: nil)
    }

    private static let steps: [(Int64, Int, Int64, Int64, Int64)] = [
        (59, 30, 1, 30, 60), (60, 30, 2, 60, 90), (0, 30, 0, 0, 30), (-1, 30, -1, -30, 0), (-30, 30, -1, -30, 0),
        (59, 0, 59, 59, 60), (.max, 30, 307_445_734_561_825_860, 9_223_372_036_854_775_800, .max),
        (.min, 30, -307_445_734_561_825_861, 9_223_372_036_854_775_786, .max),
    ]

    @Test(arguments: steps)
    func timeSteps(_ time: Int64, _ period: Int, _ number: Int64, _ start: Int64, _ end: Int64) {
        let step = TimeStep(of: time, period: .seconds(period))
        #expect(step.number == number && step.start == start && step.end == end)
    }

    @Test func theChallengeIsTheNumberOfTheStep() {
        expect(TimeStep(of: 59, period: .seconds(30)).challenge, is: [0, 0, 0, 0, 0, 0, 0, 1])
        expect(TimeStep(of: -1, period: .seconds(30)).challenge, is: [UInt8](repeating: 0xFF, count: 8))
    }

    private static let responses: [(String, Bool, String?)] = [
        ("0600000001", true, "000001"), ("087fffffff", true, "47483647"), ("0affffffff", true, "2147483647"),
        ("06000000", true, nil), ("060000000000", true, nil), ("00000000ff", true, nil), ("0b00000001", true, nil),
        ("", true, nil), ("06" + String(repeating: "00", count: 20), false, "000000"),
        ("06" + String(repeating: "ff", count: 64), false, "483647"),
        ("06" + String(repeating: "ff", count: 19), false, nil),
    ]

    @Test(arguments: responses)
    func readsResponses(_ hex: String, _ isTruncated: Bool, _ text: String?) throws {
        var reader = ByteReader(try Hex.decode(hex))
        guard let text else {
            #expect(throws: WireError.self) { try OATHResponse(&reader, isTruncated: isTruncated) }
            return
        }
        try expect(OATHResponse(&reader, isTruncated: isTruncated).decimal, is: text)
    }

    @Test func writesCommands() throws {
        let new = Virtual.account("a", type: .hotp, digits: 8, needsTouch: true, counter: 258)
        let put = PutAccount(
            account: new.id, algorithm: .sha512, digits: 8, key: OATHKey(Secret([1]), algorithm: .sha512),
            needsTouch: true, counter: 258)
        #expect(
            Hex.encode(try put.apdu.encoded(.short))
                == "000100001d" + "710161" + "7310130801" + String(repeating: "00", count: 13) + "7802"
                + "7a0400000102")
        let full = Calculate(account: [0x61], challenge: [], isTruncated: false)
        expect(Hex.encode(try full.apdu.encoded(.short)), is: "00a2000005710161740000")
        expect(Hex.encode(try ResetOATHApplication().apdu.encoded(.short)), is: "0004dead")
        expect(Hex.encode(try SetAccessKey.removal.apdu.encoded(.short)), is: "00030000027300")
        #expect(
            Hex.encode(try RenameAccount(account: [0x61], newName: [0x62]).apdu.encoded(.short))
                == "0005000006710161710162")
    }

    @Test func refusesRepliesThatAreNotReplies() throws {
        let rows = ["71016176050600000001ff", "710161", "7101617800", "72", "710161770100", "71016177020606"]
        for row in rows {
            var reader = ByteReader(try Hex.decode(row))
            #expect(throws: WireError.self) { try CalculateAll(challenge: []).decode(&reader) }
        }
        var list = ByteReader([0x72, 0])
        #expect(throws: WireError.self) { try ListAccounts().decode(&list) }
        #expect(throws: WireError.self) { try OATHInfo(selectReply: [0x79, 1, 5, 0x71, 1, 1]) }
        #expect(throws: WireError.self) { try OATHInfo(selectReply: [0x79, 3, 5, 7, 1]) }
        var full = ByteReader([0x71, 1, 0x61, 0x75, 21, 6] + [UInt8](repeating: 0, count: 20))
        try expect(CalculateAll(challenge: []).decode(&full).count, is: 1)
    }
}
