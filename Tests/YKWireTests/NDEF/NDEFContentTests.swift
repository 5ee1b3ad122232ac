// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

/// What well-known records mean.
@Suite struct NDEFContentTests {
    @Test func thirtySixBeginnings() throws {
        expect(NDEFURI.prefixes.count, is: 0x24)
        for (code, prefix) in NDEFURI.prefixes.enumerated() {
            let uri = try NDEFURI(decoding: [UInt8(code)] + Array("x.org".utf8))
            expect(uri.description, is: prefix + "x.org")
            expect(NDEFURI(uri.description).description, is: uri.description)
            // ftp:// has two numbers, all others come back as they were.
            expect(NDEFURI(uri.description).prefix, is: prefix)
        }
        #expect(NDEFURI.prefixes[0x23] == "urn:nfc:" && NDEFURI.prefixes[0x1D] == "file://")
    }

    @Test func aReservedBeginningIsNone() throws {
        let uri = try NDEFURI(decoding: [0x24] + Array("a:b".utf8))
        #expect(uri.prefix == "" && uri.description == "a:b" && uri.encoded == [0x24] + Array("a:b".utf8))
        #expect(throws: WireError.self) { try NDEFURI(decoding: []) }
    }

    @Test func theLongestBeginningIsTaken() {
        #expect(NDEFURI("https://www.example.com").code == 2 && NDEFURI("https://example.com").code == 4)
        #expect(NDEFURI("urn:epc:id:1").code == 0x1E && NDEFURI("urn:x").code == 0x13 && NDEFURI("x").code == 0)
        expect(NDEFURI("http://www.a").record.payload, is: [1, 0x61])
    }

    @Test(arguments: [
        ("02656e48c3a4", "en", "Hä", NDEFText.Encoding.utf8), ("0041", "", "A", .utf8), ("426465", "de", "", .utf8),
        ("82656e004100e4d83dde00", "en", "Aä😀", .utf16), ("82656efeff0041", "en", "A", .utf16),
        ("82656efffe4100e400", "en", "Aä", .utf16), ("80", "", "", .utf16), ("80feff", "", "", .utf16),
    ])
    func texts(hex: String, language: String, text: String, encoding: NDEFText.Encoding) throws {
        let read = try NDEFText(decoding: Hex.decode(hex))
        expect(read, is: NDEFText(text, language: language, encoding: encoding))
        try expect(NDEFText(decoding: read.encoded()), is: read)
    }

    @Test(arguments: ["", "05656e", "02ffff41", "0041ff", "80d800", "8000", "80fffe00", "0141"].dropLast())
    func textsThatCannotBe(hex: String) throws {
        let bytes = try Hex.decode(hex)
        #expect(throws: WireError.self) { try NDEFText(decoding: bytes) }
    }

    @Test(arguments: ["\u{FEFF}a", "\u{FFFE}", "\u{FEFF}\u{FEFF}", "a\u{FEFF}"])
    func aTextThatBeginsLikeAMark(text: String) throws {
        let record = NDEFText(text, encoding: .utf16)
        try expect(Array(NDEFText(decoding: record.encoded()).text.utf16), is: Array(text.utf16))
    }

    @Test func aLanguageHasItsLimit() {
        #expect(throws: WireError.self) { try NDEFText("", language: String(repeating: "a", count: 64)).encoded() }
        #expect(throws: Never.self) { try NDEFText("", language: String(repeating: "a", count: 63)).record() }
    }

    @Test func aPosterWithEverything() throws {
        let poster = NDEFSmartPoster(
            NDEFURI("https://example.com"), titles: [NDEFText("Title"), NDEFText("Titel", language: "de")],
            action: .save, size: 0x0102_0304, mediaType: "text/html",
            others: [
                NDEFRecord(.media, type: Array("image/png".utf8), payload: [1]), .init(wellKnown: "x", payload: []),
            ])
        let record = try poster.record()
        try expect(record.content(), is: .smartPoster(poster))
        try expect(NDEFSmartPoster(decoding: poster.encoded()), is: poster)
        expect(
            [NDEFSmartPoster.Action.perform, .save, .edit, .init(rawValue: 9)].map(\.description),
            is: [
                "perform", "save", "edit", "9",
            ])
    }

    @Test func aPosterHasOneURI() throws {
        let uri = NDEFURI("tel:1").record
        let text = try NDEFText("a").record()
        for records in [
            [text], [uri, uri], [uri, NDEFRecord(wellKnown: "act", payload: [])],
            [uri, NDEFRecord(wellKnown: "act", payload: [1, 2])], [uri, NDEFRecord(wellKnown: "s", payload: [1])],
        ] {
            let payload = try NDEFMessage(records).encoded()
            #expect(throws: WireError.self) { try NDEFSmartPoster(decoding: payload) }
        }
        let bare = try NDEFSmartPoster(decoding: NDEFMessage([uri]).encoded())
        expect(bare, is: NDEFSmartPoster(NDEFURI("tel:1")))
    }

    @Test func aRecordThatLiesIsLeftOut() throws {
        let message = NDEFMessage([NDEFRecord(wellKnown: "T", payload: []), NDEFURI("tel:1").record])
        expect(message.contents, is: [.uri(NDEFURI("tel:1"))])
        #expect(throws: WireError.self) { try message.records[0].content() }
    }
}
