// SPDX-License-Identifier: Apache-2.0

import YKWire

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

/// Rows with aligned columns. On a terminal that is too narrow for them, the widest column of a table shrinks;
/// elsewhere everything is printed in full.
package enum Table {
    private static let gap = 2
    /// The minimum width to which the widest column of a table shrinks.
    private static let least = 8

    /// Returns a list with one line per item; the widest column is shortened.
    package static func lines(_ rows: [[String]], within width: Int? = Terminal.resultColumns) -> [String] {
        var widths = widths(of: rows)
        var excess = total(widths) - (width ?? .max)
        while excess > 0, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }), widths[widest] > least {
            let next = widths.indices.filter { $0 != widest }.map { widths[$0] }.max() ?? 0
            let cut = min(excess, max(1, widths[widest] - max(next, least)))
            widths[widest] -= cut
            excess -= cut
        }
        return rows.map { row in line(row.indices.map { row[$0].clipped(to: widths[$0]) }, widths) }
    }

    /// Returns labeled values; the last column wraps onto further lines.
    ///
    /// - Parameter indent: The text before each line.
    package static func details(
        _ rows: [[String]], indent: String = "", within width: Int? = Terminal.resultColumns
    ) -> [String] {
        let widths = widths(of: rows)
        let before = indent.columns + total(widths.dropLast()) + gap
        let room = (width ?? .max) - before
        return rows.flatMap { row -> [String] in
            let whole = indent + line(row, widths)
            guard row.count == widths.count, whole.columns > width ?? .max, room >= 2 * least, let last = row.last
            else { return [whole] }
            let parts = last.filled(to: room)
            return [indent + line(Array(row.dropLast()) + [parts[0]], widths)]
                + parts.dropFirst().map { String(repeating: " ", count: before) + $0 }
        }
    }

    private static func widths(of rows: [[String]]) -> [Int] {
        var widths: [Int] = []
        for row in rows {
            for column in row.indices {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], row[column].columns)
            }
        }
        return widths
    }

    private static func total(_ widths: some Collection<Int>) -> Int {
        widths.reduce(0, +) + gap * max(0, widths.count - 1)
    }

    /// Returns the cells of a row separated by spaces, without trailing space.
    private static func line(_ row: [String], _ widths: [Int]) -> String {
        let last = row.lastIndex { !$0.isEmpty } ?? 0
        return row.indices.prefix(last + 1).map { column in
            column == last ? row[column] : row[column].padded(to: widths[column] + gap)
        }.listed(by: "")
    }
}
