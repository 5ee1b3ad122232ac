// SPDX-License-Identifier: Apache-2.0

extension String {
    /// Whether the text contains part of a name as typed by a person, ignoring case and Unicode normalization: a
    /// composed letter equals its decomposed spelling. No text contains an empty part.
    package func mentions(_ part: String) -> Bool { !part.isEmpty && lowercased().contains(part.lowercased()) }

    /// Whether the text contains the UTF-8 bytes of another, wherever its characters begin.
    ///
    /// For the syntax of formats, in which a CR LF contains an LF. It also needs no generic code of the standard library,
    /// whose first call searches the conformances of the whole program.
    package func contains(bytesOf part: String) -> Bool {
        let (bytes, wanted) = (Array(utf8), Array(part.utf8))
        guard wanted.count <= bytes.count else { return false }
        return (0...(bytes.count - wanted.count)).contains { bytes[$0...].starts(with: wanted) }
    }
}

extension Unicode.Scalar {
    /// Whether the character controls a terminal or is invisible on it: controls (C0, DEL, C1), the controls of
    /// bidirectional text (UAX 9 §2), invisible format characters, tags, and noncharacters of the Arabic block.
    package var isHazardous: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0xAD, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x206F,
            0xFDD0...0xFDEF, 0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE0FFF:
            true
        default: false
        }
    }
}

extension String {
    /// The string without white space at either end.
    package var trimmed: String { self[...].trimmed }
}

extension Substring {
    /// The string without white space at either end.
    package var trimmed: String {
        // 'dropLast()' counts all that is before the last.
        var scalars = unicodeScalars
        while scalars.first?.isWhiteSpace == true { scalars.removeFirst() }
        while scalars.last?.isWhiteSpace == true { scalars.removeLast() }
        return String(scalars)
    }
}

extension Unicode.Scalar {
    /// ASCII is handled without Unicode's tables, which a short run would otherwise load from the program's file for
    /// this alone.
    fileprivate var isWhiteSpace: Bool {
        isASCII ? value == 0x20 || (0x09...0x0D).contains(value) : properties.isWhitespace
    }
}

extension [String] {
    /// The elements with a separator between them. The standard `joined` searches the conformances of the whole program when
    /// it is called for the first time, which takes 2 % of a short run.
    package func listed(by separator: String = ", ") -> String {
        var out = first ?? ""
        for element in dropFirst() { out += separator + element }
        return out
    }
}
