// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport

@testable import YKWire

struct XMLTests {
    private func parse(_ text: String) throws -> XMLNode { try XMLParser.parse(Array(text.utf8)) }

    @Test func readsWhatContainersUse() throws {
        let node = try parse(
            """
            \u{FEFF}<?xml version="1.0"?><!-- one --><p:a xmlns:p="x" xmlns='y' b="1 &lt; 2" p:c='&#65;&#x42;'>
            t<![CDATA[<&>]]>&amp;&quot;&apos;&gt;<!-- two --><?pi?><p:d/><d >é</d ></p:a> <!-- three -->
            """)
        expect(node.name, is: "a")
        expect(node.attributes, is: ["b": "1 < 2", "c": "AB"])
        expect(node.text.trimmed, is: "t<&>&\"'>")
        expect(node.all("d").map(\.text), is: ["", "é"])
        #expect(node.value("d") == nil && node.first("d", "e") == nil)
    }

    @Test(arguments: [
        "", " ", "a", "<", "<a", "<a>", "<a></b>", "<a/><b/>", "<a b>", "<a b=1/>", "<a b='1", "<a b='1' b='2'/>",
        "<a>&lol;</a>", "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>&#99999999;</a>", "<a>&", "<a>&verylongname;</a>",
        "<!DOCTYPE a><a/>", "<?xml?><!DOCTYPE a [<!ENTITY b 'c'>]><a/>", "<a><![CDATA[</a>", "<!-- <a/>", "<a b='<'/>",
        "<a/>x",
    ])
    func refuses(_ text: String) {
        #expect(throws: WireError.self) { try parse(text) }
    }

    @Test func normalizesLineEnds() throws {
        try expect(parse("<a>1\r\n2\r3\n4</a>").text, is: "1\n2\n3\n4")
        try expect(parse("<a><![CDATA[1\r\n2\r3\n4\r]]></a>").text, is: "1\n2\n3\n4\n")
    }

    @Test func prefersAttributesWithoutPrefix() throws {
        try expect(parse("<a p:b='1' b='2' q:b='3'/>").attributes, is: ["b": "2"])
        #expect(throws: WireError.self) { try parse("<a p:b='1' p:b='2'/>") }
        #expect(throws: WireError.self) { try parse("<a xmlns:p='1' xmlns:p='2'/>") }
    }

    @Test func readsDeclaredLatin1() throws {
        func bytes(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8($0.value) } }
        for declaration in ["<?xml version='1.0' encoding='ISO-8859-1'?>", "<?xml encoding = \"iso-8859-1\" ?>"] {
            try expect(XMLParser.parse(bytes(declaration + "<a>\u{E9}\u{FF}</a>")).text, is: "\u{E9}\u{FF}")
        }
        for declaration in [
            "", "<?xml version='1.0'?>", "<?xml encoding='UTF-8'?>", "<?xml encoding", "<?xml encoding='x",
        ] {
            #expect(throws: WireError.self) { try XMLParser.parse(bytes(declaration + "<a>\u{E9}</a>")) }
        }
    }

    @Test func hasLimits() {
        let deep = String(repeating: "<a>", count: 40)
        #expect(throws: WireError.self) { try parse(deep) }
        #expect(throws: WireError.self) {
            try XMLParser.parse([UInt8](repeating: 0x20, count: XMLParser.byteLimit + 1))
        }
        #expect(throws: WireError.self) { try XMLParser.parse([0x3C, 0x61, 0x3E, 0xFF, 0x3C, 0x2F, 0x61, 0x3E]) }
    }
}
