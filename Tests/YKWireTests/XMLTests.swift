// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import YKWire

struct XMLTests {
    private func parse(_ text: String) throws -> XMLNode { try XMLParser.parse(Array(text.utf8)) }

    @Test func readsWhatContainersUse() throws {
        let node = try parse(
            """
            \u{FEFF}<?xml version="1.0"?><!-- one --><p:a xmlns:p="x" xmlns='y' b="1 &lt; 2" p:c='&#65;&#x42;'>
            t<![CDATA[<&>]]>&amp;&quot;&apos;&gt;<!-- two --><?pi?><p:d/><d >é</d ></p:a> <!-- three -->
            """)
        #expect(node.name == "a")
        #expect(node.attributes == ["b": "1 < 2", "c": "AB"])
        #expect(node.text.trimmed == "t<&>&\"'>")
        #expect(node.all("d").map(\.text) == ["", "é"])
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
        #expect(try parse("<a>1\r\n2\r3\n4</a>").text == "1\n2\n3\n4")
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
