// SPDX-License-Identifier: Apache-2.0

import YKWire

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
