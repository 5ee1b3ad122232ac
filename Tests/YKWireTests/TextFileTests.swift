// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKTestSupport

@testable import YKWire

/// Text files in every encoding that editors write.
@Suite struct TextFileTests {
    private static let text = "Größe: 5 €\r\nΑθήνα\n"

    private func utf16(_ text: String, isLittle: Bool, hasMark: Bool) -> [UInt8] {
        ((hasMark ? "\u{FEFF}" : "") + text).utf16.flatMap { unit in
            let pair = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
            return isLittle ? pair.reversed() : pair
        }
    }

    @Test("UTF-8 and UTF-16, with and without a byte order mark, are the same text")
    func unicode() {
        let plain = Array(Self.text.utf8)
        let files =
            [plain, [0xEF, 0xBB, 0xBF] + plain]
            + [true, false].flatMap { isLittle in
                [true, false].map { utf16(Self.text, isLittle: isLittle, hasMark: $0) }
            }
        for file in files {
            expect(TextFile.decode(file), is: Self.text)
            expect(TextFile.unicode(file), is: Self.text)
            expect(TextFile.utf8(file), is: plain)
        }
        expect(files.map { TextFile.isUTF16($0) }, is: [false, false, true, true, true, true])
        #expect(TextFile.decode([]) == "" && TextFile.decode([0xFF, 0xFE]) == "")
    }

    @Test("Windows-1252, which no file names")
    func windows1252() {
        expect(TextFile.decode([0x4D, 0xFC, 0x6C, 0x6C, 0x65, 0x72]), is: "Müller")
        expect(TextFile.decode([0x80, 0x20, 0x93, 0xE9, 0x94]), is: "€ “é”")
        expect(TextFile.utf8([0xE9]), is: Array("é".utf8))
        expect(TextFile.unicode([0x4D, 0xFC]), is: nil)
    }

    @Test("a damaged line does not affect the others")
    func damage() {
        let lines = Array("Größe\n".utf8) + [0x63, 0x61, 0x66, 0xE9, 0x0A] + Array("Größe".utf8) + [0xFF, 0x0A, 0x81]
        expect(TextFile.decode(lines), is: "Größe\ncafé\nGröße\u{FFFD}\n\u{FFFD}")
        expect(TextFile.decode([0xEF, 0xBB, 0xBF, 0xFF]), is: "\u{FFFD}")
    }

    @Test("what is not text")
    func binary() {
        let files: [[UInt8]] = [
            [0xFF, 0xFE, 0x31], [0xFE, 0xFF, 0xD8, 0x00], [0xFF, 0xFE, 0x01, 0x00], [0x80, 0x00], [0xC0, 0x81],
            [0xE9, 0x1B, 0x5B], [0x41, 0x00, 0x41], [0xEF, 0xBB, 0xBF, 0xFF, 0x00],
        ]
        for file in files {
            expect(TextFile.decode(file), is: nil, "\(file)")
            expect(TextFile.utf8(file), is: nil, "\(file)")
        }
    }

    @Test("XML in UTF-16, which declares it")
    func xml() throws {
        for isLittle in [true, false] {
            let text = "<?xml version=\"1.0\" encoding=\"utf-16\"?><a>\u{E9}</a>"
            for hasMark in [true, false] {
                try expect(XMLParser.parse(utf16(text, isLittle: isLittle, hasMark: hasMark)).text, is: "\u{E9}")
            }
            let cut = Array(utf16(text, isLittle: isLittle, hasMark: true).dropLast())
            #expect(throws: WireError.self) { try XMLParser.parse(cut) }
        }
    }
}
