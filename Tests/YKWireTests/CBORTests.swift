// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

@Suite struct CBORTests {
    /// RFC 8949 appendix A: encoded, diagnostic notation, and whether encoding gives the same bytes back.
    static let vectors: [(String, String, Bool)] = [
        ("00", "0", true), ("01", "1", true), ("0a", "10", true), ("17", "23", true), ("1818", "24", true),
        ("1819", "25", true), ("1864", "100", true), ("1903e8", "1000", true), ("1a000f4240", "1000000", true),
        ("1b000000e8d4a51000", "1000000000000", true), ("1bffffffffffffffff", "18446744073709551615", true),
        ("3bffffffffffffffff", "-18446744073709551616", true), ("20", "-1", true), ("29", "-10", true),
        ("3863", "-100", true), ("3903e7", "-1000", true), ("f90000", "0.0", true), ("f98000", "-0.0", true),
        ("f93c00", "1.0", true), ("fb3ff199999999999a", "1.1", true), ("f93e00", "1.5", true),
        ("f97bff", "65504.0", true), ("fa47c35000", "100000.0", true), ("fa7f7fffff", "3.4028234663852886e+38", true),
        ("fb7e37e43c8800759c", "1e+300", true), ("f90001", "5.960464477539063e-08", true),
        ("f90400", "6.103515625e-05", true), ("f9c400", "-4.0", true), ("fbc010666666666666", "-4.1", true),
        ("f97c00", "Infinity", true), ("f97e00", "NaN", true), ("f9fc00", "-Infinity", true),
        ("fa7f800000", "Infinity", true), ("fa7fc00000", "NaN", true), ("faff800000", "-Infinity", true),
        ("fb7ff0000000000000", "Infinity", true), ("fb7ff8000000000000", "NaN", true),
        ("fbfff0000000000000", "-Infinity", true), ("f4", "false", true), ("f5", "true", true), ("f6", "null", true),
        ("f7", "undefined", true), ("f0", "simple(16)", true), ("f8ff", "simple(255)", true),
        ("c11a514b67b0", "1(1363896240)", true), ("d74401020304", "23(h'01020304')", true),
        ("d818456449455446", "24(h'6449455446')", true), ("40", "h''", true), ("4401020304", "h'01020304'", true),
        ("60", "\"\"", true), ("6161", "\"a\"", true), ("6449455446", "\"IETF\"", true), ("62c3bc", "\"ü\"", true),
        ("63e6b0b4", "\"水\"", true), ("64f0908591", "\"𐅑\"", true), ("80", "[]", true), ("83010203", "[1, 2, 3]", true),
        ("8301820203820405", "[1, [2, 3], [4, 5]]", true),
        (
            "98190102030405060708090a0b0c0d0e0f101112131415161718181819",
            "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25]", true
        ),
        ("a0", "{}", true), ("a201020304", "{1: 2, 3: 4}", true),
        ("a26161016162820203", "{\"a\": 1, \"b\": [2, 3]}", true),
        ("826161a161626163", "[\"a\", {\"b\": \"c\"}]", true),
        ("5f42010243030405ff", "h'0102030405'", false), ("7f657374726561646d696e67ff", "\"streaming\"", false),
        ("9fff", "[]", false), ("9f018202039f0405ffff", "[1, [2, 3], [4, 5]]", false),
        ("83018202039f0405ff", "[1, [2, 3], [4, 5]]", false),
        ("bf61610161629f0203ffff", "{\"a\": 1, \"b\": [2, 3]}", false),
        ("bf6346756ef563416d7421ff", "{\"Fun\": true, \"Amt\": -2}", false),
    ]

    @Test(arguments: vectors)
    func appendixA(hex: String, text: String, isCanonical: Bool) throws {
        let bytes = try Hex.decode(hex)
        var warnings: [CBOR.Warning] = []
        let item = try CBOR(decoding: bytes, warnings: &warnings)
        expect(item.description, is: text)
        if isCanonical { expect(Hex.encode(item.encoded), is: hex) }
        try expect(CBOR(decoding: item.encoded), is: item)
        if case .tagged = item {} else { expect(warnings.isEmpty, is: isCanonical) }
        if !warnings.isEmpty { #expect(throws: WireError.self) { try CBOR(decoding: bytes, .strict) } }
    }

    @Test(arguments: [
        ("", WireError.Code.truncated), ("18", .truncated), ("19 01", .truncated), ("42 01", .truncated),
        ("62 61", .truncated), ("82 01", .truncated), ("a1 01", .truncated), ("9f 01", .truncated),
        ("5f 41 01", .truncated), ("9b ffffffffffffffff", .truncated), ("bb ffffffffffffffff", .truncated),
        ("5b ffffffffffffffff", .truncated), ("01 02", .trailing), ("1c", .malformed), ("1f", .malformed),
        ("ff", .malformed), ("f8 1f", .malformed), ("fc", .malformed), ("5f 61 61 ff", .malformed),
        ("5f 5f 41 01 ff ff", .malformed),
        ("a2 01 02 01 03", .duplicate), ("a3 02 00 01 00 02 00", .duplicate), ("bf 01 02 01 03 ff", .duplicate),
        ("df", .malformed), ("bf 01", .truncated), ("bf 01 ff", .malformed),
    ])
    func refused(hex: String, code: WireError.Code) throws {
        let bytes = try Hex.decode(hex.filter { $0 != " " })
        let error = #expect(throws: WireError.self) { try CBOR(decoding: bytes) }
        expect(error?.code, is: code)
    }

    @Test(arguments: [
        ("1817", "longer than"), ("190001", "longer than"), ("1a00000001", "longer than"),
        ("1b0000000000000001", "longer than"), ("a2020001 00", "out of order"), ("a2616100 0100", "out of order"),
        ("c100", "tag"), ("9f01ff", "indefinite"), ("bf0101ff", "indefinite"), ("7fff", "indefinite"),
        ("6461ccc3a4", "not UTF-8"), ("63c3a4c3", "not UTF-8"), ("a161ff00", "not UTF-8"),
    ])
    func noncanonicalIsAWarningOrStrictlyAnError(hex: String, words: String) throws {
        let bytes = try Hex.decode(hex.filter { $0 != " " })
        var warnings: [CBOR.Warning] = []
        _ = try CBOR(decoding: bytes, warnings: &warnings)
        #expect(warnings.contains { $0.description.contains(words) })
        let error = #expect(throws: WireError.self) { try CBOR(decoding: bytes, .strict) }
        expect(error?.reason.contains(words), is: true)
    }

    @Test func depthAndSizeAreCapped() throws {
        let deep = [UInt8](repeating: 0x81, count: 17) + [0x00]
        #expect(throws: WireError.self) { try CBOR(decoding: deep) }
        try expect(CBOR(decoding: Array(deep.dropFirst())).array?.count, is: 1)
        let bomb = [UInt8](repeating: 0x81, count: 100_000)
        #expect(#expect(throws: WireError.self) { try CBOR(decoding: bomb) }?.code == .tooDeep)
        let nested = [UInt8](repeating: 0xA1, count: 100_000)
        #expect(#expect(throws: WireError.self) { try CBOR(decoding: nested) }?.code == .tooDeep)
        let tags = [UInt8](repeating: 0xC1, count: 100_000)
        #expect(#expect(throws: WireError.self) { try CBOR(decoding: tags) }?.code == .tooDeep)
        let limit = CBOR.Limits(depth: 4, bytes: 3)
        expect(
            #expect(throws: WireError.self) { try CBOR(decoding: [0x43, 1, 2, 3], limits: limit) }?.code, is: .tooLarge)
    }

    @Test func keysAreWrittenInCTAP2sOrder() {
        let map: CBOR = [
            "aa": 1, "b": 2, 10: 3, 100: 4, -1: 5, [1]: 6, false: 7, .bytes([1, 2]): 8, .bytes([3]): 9, .int(-500): 10,
            .tagged(1, 2): 11, .map(CBOR.Map()): 12,
        ]
        let keys = map.map?.canonicalEntries.map(\.key.description) ?? []
        expect(
            keys, is: ["10", "100", "-1", "-500", "h'03'", "h'0102'", "\"b\"", "\"aa\"", "[1]", "{}", "1(2)", "false"])
    }

    @Test func mapsAreEqualInAnyOrder() {
        let one: CBOR = [1: "a", 2: "b"]
        let other: CBOR = [2: "b", 1: "a"]
        expect(one, is: other)
        expect(one.hashValue, is: other.hashValue)
        #expect(one != [1: "a"])
        var map = CBOR.Map()
        map[1] = true
        map[2] = .null
        map[1] = false
        map[2] = nil
        map[3] = nil
        #expect(map.count == 1 && !map.isEmpty && map[1]?.bool == false)
    }

    @Test func accessors() {
        #expect(CBOR.int(.min).int == .min && CBOR.int(-1).int == -1 && CBOR.unsigned(.max).int == nil)
        #expect(CBOR.negative(.max).int == nil && CBOR.text("a").int == nil)
        #expect(CBOR.unsigned(7).unsigned == 7 && CBOR.int(-7).unsigned == nil)
        #expect(CBOR.bytes([1]).bytes == [1] && CBOR.null.bytes == nil)
        #expect(CBOR.text("a").text == "a" && CBOR.null.text == nil && CBOR.null.bool == nil)
        #expect(CBOR.undefined.array == nil && CBOR.undefined.map == nil && CBOR.bool(true).bool == true)
        #expect(CBOR.float(.init(1.5)).description == "1.5" && CBOR.float(.init(1.5)).encoded.count == 9)
        let kinds: [CBOR] = [1, -1, .bytes([]), "", [], [:], .tagged(1, 1), true, .null, .undefined, .float(.init(0))]
        expect(Set(kinds.map(\.kindName)).count, is: 10)
    }

    /// Random items survive a round trip, and every cut and every flipped byte is a value or an error, never a trap.
    @Test func roundTripAndDamage() throws {
        var random = SeededGenerator(seed: 42)
        for _ in 0..<300 {
            let item = CBOR.random(depth: 4, using: &random)
            let bytes = item.encoded
            try expect(CBOR(decoding: bytes, limits: .init(depth: 20)), is: item)
            for cut in 0..<min(bytes.count, 200) {
                #expect(throws: WireError.self) { try CBOR(decoding: Array(bytes.prefix(cut))) }
            }
            for index in bytes.indices.prefix(100) {
                var damaged = bytes
                damaged[index] = UInt8.random(in: 0...255, using: &random)
                _ = try? CBOR(decoding: damaged)
                var cursor = CBORCursor(damaged)
                _ = try? cursor.skip()
            }
        }
    }

    @Test func anItemIsTakenFromTheFront() throws {
        var reader = ByteReader([0xFF] + ([1: 2] as CBOR).encoded + [9, 9])
        _ = try reader.byte()
        try expect(reader.cbor(), is: [1: 2])
        #expect(reader.offset == 4 && reader.remaining == 2)
        var short = ByteReader([0x82, 1])
        #expect(throws: WireError.self) { try short.cbor() }
    }
}

extension CBOR {
    static func random(depth: Int, using random: inout SeededGenerator) -> CBOR {
        switch Int.random(in: 0...(depth > 0 ? 9 : 6), using: &random) {
        case 0:
            .unsigned(UInt64.random(in: 0...UInt64.max, using: &random) >> UInt64.random(in: 0...63, using: &random))
        case 1:
            .negative(UInt64.random(in: 0...UInt64.max, using: &random) >> UInt64.random(in: 0...63, using: &random))
        case 2: .bytes(random.bytes(upTo: 40))
        case 3: .text(String(decoding: random.bytes(upTo: 40).map { $0 & 0x7F }, as: UTF8.self))
        case 4: .simple([20, 21, 22, 23, 0, 19, 32, 255].randomElement(using: &random) ?? 20)
        case 5: .float(.init(Double.random(in: -1e9...1e9, using: &random)))
        case 6: .bool(Bool.random(using: &random))
        case 7:
            .array((0..<Int.random(in: 0...5, using: &random)).map { _ in .random(depth: depth - 1, using: &random) })
        case 8: .map(randomMap(depth: depth - 1, using: &random))
        default: .tagged(UInt64.random(in: 0...70000, using: &random), .random(depth: depth - 1, using: &random))
        }
    }

    private static func randomMap(depth: Int, using random: inout SeededGenerator) -> Map {
        var map = Map()
        for _ in 0..<Int.random(in: 0...5, using: &random) {
            map[.random(depth: 0, using: &random)] = .random(depth: depth, using: &random)
        }
        return map
    }
}
