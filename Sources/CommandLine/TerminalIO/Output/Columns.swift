// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The number of terminal columns that the text occupies.
    package var columns: Int { utf8.allSatisfy { $0 < 0x80 } ? utf8.count : reduce(0) { $0 + $1.columns } }

    /// Returns the longest prefix of the text that fits into `width` columns.
    package func clipped(to width: Int) -> String {
        guard columns > width else { return self }
        var left = max(0, width - 1)
        let isStyled = unicodeScalars.contains { Style(rawValue: $0.value) != nil }
        return String(
            prefix {
                left -= $0.columns; return left >= 0
            }) + "…" + (isStyled ? Style.end.mark : "")
    }
}

extension Character {
    /// Two columns for wide East Asian characters and emoji, zero for combining marks.
    fileprivate var columns: Int {
        if unicodeScalars.contains(where: { $0.isWide || $0.value == 0xFE0F }) { return 2 }
        return unicodeScalars.allSatisfy(\.isMark) ? 0 : 1
    }
}

extension Unicode.Scalar {
    /// Whether it is an East Asian wide or full-width character (UAX 11), or is shown as an emoji (UTS 51).
    fileprivate var isWide: Bool {
        switch value {
        case 0..<0x1100: false
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1B000...0x1B2FF, 0x20000...0x3FFFD:
            true
        default: properties.isEmojiPresentation
        }
    }

    fileprivate var isMark: Bool {
        if Style(rawValue: value) != nil { return true }
        return switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: true
        default: false
        }
    }
}
