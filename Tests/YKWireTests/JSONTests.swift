// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

/// RFC 8259.
@Suite struct JSONTests {
    static let values: [(String, JSONValue)] = [
        ("null", JSONValue.null), ("true", true), (" false ", false), ("0", 0), ("-0", 0), ("-12", -12),
        ("9223372036854775807", .int(.max)), ("9223372036854775808", .double(9.223372036854775808e18)),
        ("1.5", 1.5), ("1e3", .double(1000)), ("1E+3", .double(1000)), ("-2.5e-1", .double(-0.25)), ("\"\"", ""),
        ("\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "a\"\\/\u{8}\u{C}\n\r\t"), ("\"\\u00e9\\ud83d\\ude00\"", "é😀"),
        ("\"é😀\"", "é😀"), ("[]", []), ("[ 1 , [2] ]", [1, [2]]), ("{}", [:]),
        ("{\"b\":1,\"a\":{\"c\":null}}", ["b": 1, "a": ["c": nil]]), ("\t\r\n{ \"a\" : 1 }\n", ["a": 1]),
    ]

    @Test(arguments: values)
    func read(text: String, value: JSONValue) throws {
        let parsed = try JSONValue(parsing: text)
        expect(parsed, is: value)
        try expect(JSONValue(parsing: parsed.text), is: value)
        try expect(JSONValue(parsing: parsed.prettyText), is: value)
    }

    @Test(arguments: [
        ("", WireError.Code.truncated), (" ", .truncated), ("nul", .truncated), ("nule", .malformed),
        ("01", .malformed),
        ("-", .malformed), ("+1", .malformed), ("1.", .malformed), ("1.e5", .malformed), (".5", .malformed),
        ("1e", .malformed), ("--1", .malformed), ("1-2", .malformed), ("1e999", .malformed), ("-01", .malformed),
        ("NaN", .malformed), ("0x10", .trailing), ("1 2", .trailing), ("\"a", .truncated), ("\"\\", .truncated),
        ("\"\\x\"", .malformed), ("\"\\u12\"", .truncated), ("\"\\u12gg\"", .malformed), ("\"\\u+123\"", .malformed),
        ("\"\\ud800\"", .malformed), ("\"\\ud800\\n\"", .malformed), ("\"\\ud800\\u0041\"", .malformed),
        ("\"\\udc00\"", .malformed), ("\"a\nb\"", .malformed), ("[", .truncated), ("[1", .truncated),
        ("[1,]", .malformed),
        ("[1 2]", .malformed), ("{", .truncated), ("{\"a\"}", .malformed), ("{\"a\":1,}", .malformed),
        ("{a:1}", .malformed), ("{\"a\":1 \"b\":2}", .malformed), ("{\"a\":1,\"a\":2}", .duplicate), ("]", .malformed),
    ])
    func refused(text: String, code: WireError.Code) {
        #expect(#expect(throws: WireError.self) { try JSONValue(parsing: text) }?.code == code, "\(text)")
    }

    @Test(
        "What other programs write is repaired on request",
        arguments: [
            (#"{"a":"x\ud83d"}"#, JSONValue(dictionaryLiteral: ("a", "x\u{FFFD}"))),
            (#"["\ud83d\u0041\udc00\n\ud83d\ude00"]"#, JSONValue.array(["\u{FFFD}A\u{FFFD}\n😀"])),
            (#"{"a":1,"b":2,"a":3}"#, JSONValue(dictionaryLiteral: ("b", 2), ("a", 3))),
        ])
    func repairs(_ text: String, _ value: JSONValue) throws {
        #expect(throws: WireError.self) { try JSONValue(parsing: text) }
        try expect(JSONValue(repairing: Array(text.utf8)), is: value)
    }

    @Test func badUTF8IsRefused() {
        for bytes: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82]] {
            #expect(throws: WireError.self) { try JSONValue(parsing: [0x22] + bytes + [0x22]) }
        }
    }

    @Test func depthIsCapped() throws {
        let deep = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        _ = try JSONValue(parsing: deep)
        for bomb in ["[", "{\"a\":"] {
            let text = String(repeating: bomb, count: 100_000)
            #expect(#expect(throws: WireError.self) { try JSONValue(parsing: text) }?.code == .tooDeep)
        }
    }

    @Test func manyKeysAreReadInNoTime() throws {
        let members = (0..<20_000).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
        try expect(JSONValue(parsing: "{\(members)}").object?.members.count, is: 20_000)
    }

    @Test func printing() {
        let value: JSONValue = ["a": [1, 2.5, nil], "b": [:], "c": [], "d": "\u{1}\u{7F}\"\\\n\r\té", "e": true]
        expect(
            value.text, is: #"{"a":[1,2.5,null],"b":{},"c":[],"d":"\u0001\u007f\"\\\n\r\té","e":true}"#)
        expect(JSONValue.double(.infinity).text, is: "null")
        #expect(
            JSONValue(dictionaryLiteral: ("a", [1]), ("b", [:])).prettyText
                == "{\n  \"a\": [\n    1\n  ],\n  \"b\": {}\n}")
    }

    @Test func members() {
        var object = JSONValue.Object()
        object["a"] = 1
        object["b"] = 2
        object["a"] = "x"
        object["b"] = nil
        object["c"] = nil
        #expect(object.members.map(\.key) == ["a"] && object["a"]?.string == "x")
        let value: JSONValue = ["n": 1, "d": 1.5, "t": true, "l": [1]]
        #expect(value["n"]?.int == 1 && value["n"]?.number == 1 && value["d"]?.number == 1.5 && value["x"] == nil)
        #expect(value["t"]?.bool == true && value["l"]?.array == [1] && value.object?.members.count == 4)
        let wrong = JSONValue.null
        #expect(wrong.int == nil && wrong.string == nil && wrong.bool == nil && wrong.array == nil)
        #expect(wrong.object == nil && wrong.number == nil && wrong["a"] == nil)
    }
}
