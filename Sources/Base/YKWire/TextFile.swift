// SPDX-License-Identifier: Apache-2.0

/// The text of a file that a person or a program saved, in whichever encoding.
///
/// Editors and shells of Windows write UTF-16 and byte order marks, older programs Windows-1252. UTF-8 is tried first;
/// bytes with control characters that no text has are not text. A damaged line does not affect the others.
package enum TextFile {
    /// The byte order mark in UTF-8.
    private static let utf8Mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Decodes UTF-8, with or without a byte order mark; UTF-16 with one, or whose first character is ASCII; otherwise
    /// Windows-1252, which contains ISO 8859-1.
    ///
    /// Lines of UTF-8 remain UTF-8 beside lines of other bytes. In a line with both, U+FFFD replaces what is not UTF-8.
    ///
    /// - Parameter bytes: The whole file.
    /// - Returns: The text without a byte order mark; `nil` if the bytes are not text.
    package static func decode(_ bytes: [UInt8]) -> String? {
        unicode(bytes) ?? (isUTF16(bytes) ? nil : lines(bytes.dropFirst(bytes.starts(with: utf8Mark) ? 3 : 0)))
    }

    /// Decodes each line on its own. Without a byte order mark or a character in UTF-8, a byte that Windows-1252 does not
    /// have means that the file is not text.
    private static func lines(_ bytes: ArraySlice<UInt8>) -> String? {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        let isMarked = bytes.startIndex > 0
        let isUTF8 = isMarked || lines.contains { hasUTF8($0) }
        var decoded: [String] = []
        for line in lines {
            let repaired = String(decoding: line, as: UTF8.self)
            let isASCII = line.allSatisfy { $0 < 0x80 }
            let text = isMarked || isASCII || hasUTF8(line) ? repaired : windows1252(line) ?? (isUTF8 ? repaired : nil)
            guard let text, !text.unicodeScalars.contains(where: isControl) else { return nil }
            decoded.append(text)
        }
        return decoded.listed(by: "\n")
    }

    /// Whether a line has a character of two or more bytes in UTF-8.
    private static func hasUTF8(_ line: ArraySlice<UInt8>) -> Bool {
        String(decoding: line, as: UTF8.self).unicodeScalars.contains { !$0.isASCII && $0 != "\u{FFFD}" }
    }

    /// Decodes UTF-8 or UTF-16, as ``decode(_:)`` does.
    ///
    /// - Parameter bytes: The whole file.
    /// - Returns: The text without a byte order mark; `nil` for any other encoding.
    package static func unicode(_ bytes: [UInt8]) -> String? {
        if let order = ByteOrder(bytes) { return utf16(bytes.dropFirst(order.mark), order) }
        return String(validating: bytes.dropFirst(bytes.starts(with: utf8Mark) ? 3 : 0), as: UTF8.self)
    }

    /// The same text as UTF-8 bytes without a byte order mark, for parsers of bytes; a file in UTF-8 is not copied.
    ///
    /// - Parameter bytes: The whole file.
    /// - Returns: The text in UTF-8; `nil` if the bytes are not text.
    package static func utf8(_ bytes: [UInt8]) -> [UInt8]? {
        let isMarked = bytes.starts(with: utf8Mark) || isUTF16(bytes)
        if !isMarked, String(validating: bytes, as: UTF8.self) != nil { return bytes }
        return decode(bytes).map { Array($0.utf8) }
    }

    /// Whether the file is UTF-16, by its byte order mark, or by the zero byte beside an ASCII character at its start.
    ///
    /// - Parameter bytes: The whole file, or its start.
    /// - Returns: Whether ``decode(_:)`` reads it as UTF-16.
    static func isUTF16(_ bytes: [UInt8]) -> Bool { ByteOrder(bytes) != nil }

    /// The byte order of UTF-16, by its mark or by the zero byte beside an ASCII character.
    private struct ByteOrder {
        let isLittle: Bool
        /// The size of the byte order mark.
        let mark: Int

        init?(_ bytes: [UInt8]) {
            guard bytes.count >= 2 else { return nil }
            switch (bytes[0], bytes[1]) {
            case (0xFF, 0xFE): (isLittle, mark) = (true, 2)
            case (0xFE, 0xFF): (isLittle, mark) = (false, 2)
            case (0x09...0x7E, 0): (isLittle, mark) = (true, 0)
            case (0, 0x09...0x7E): (isLittle, mark) = (false, 0)
            default: return nil
            }
        }
    }

    private static func utf16(_ bytes: ArraySlice<UInt8>, _ order: ByteOrder) -> String? {
        guard bytes.count.isMultiple(of: 2) else { return nil }
        let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return order.isLittle ? second << 8 | first : first << 8 | second
        }
        guard let text = String(validating: units, as: UTF16.self), !text.unicodeScalars.contains(where: isControl)
        else { return nil }
        return text
    }

    /// `nil` if a byte has no character, or is a control character that no text has.
    private static func windows1252(_ bytes: ArraySlice<UInt8>) -> String? {
        var text = String.UnicodeScalarView()
        for byte in bytes {
            let value = (0x80...0x9F).contains(byte) ? upper[Int(byte) - 0x80] : UInt32(byte)
            guard value != 0, let scalar = Unicode.Scalar(value), !isControl(scalar) else { return nil }
            text.append(scalar)
        }
        return String(text)
    }

    /// The characters of 0x80 to 0x9F (WHATWG Encoding, index windows-1252), with zero for the five that have none.
    private static let upper: [UInt32] = [
        0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
        0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E,
        0x0178,
    ]

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 && !(0x09...0x0D).contains(scalar.value) || scalar.value == 0x7F
    }
}
