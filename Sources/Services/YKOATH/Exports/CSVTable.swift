// SPDX-License-Identifier: Apache-2.0

/// Comma-separated values with a header line (RFC 4180): quoted fields may hold commas, line breaks and doubled quotes.
struct CSVTable: Sendable {
    /// The rows after the header; a row may have fewer fields than the header.
    private(set) var rows: [[String]] = []
    private var columns: [String: Int] = [:]

    /// Reads a table; `nil` if the header lacks a required column or a quoted field is unterminated.
    init?(_ text: String, requiring required: [String]) {
        var reader = Reader(scalars: Array(text.unicodeScalars))
        guard let names = reader.row() else { return nil }
        for (index, name) in names.enumerated() where columns[name] == nil { columns[name] = index }
        guard required.allSatisfy({ columns[$0] != nil }) else { return nil }
        while !reader.isAtEnd {
            guard let row = reader.row() else { return nil }
            if row != [""] { rows.append(row) }
        }
    }

    /// A field of a row; empty when the row ends before it.
    subscript(row: [String], column: String) -> String {
        guard let index = columns[column], index < row.count else { return "" }
        return row[index]
    }

    private struct Reader {
        let scalars: [Unicode.Scalar]
        var position = 0
        var isAtEnd: Bool { position == scalars.count }

        /// Reads one row and its line break; `nil` if a quoted field is unterminated.
        mutating func row() -> [String]? {
            var fields: [String] = []
            while true {
                guard let field = field() else { return nil }
                fields.append(field)
                guard !isAtEnd else { return fields }
                let separator = scalars[position]
                position += 1
                if separator == "," { continue }
                if separator == "\r", !isAtEnd, scalars[position] == "\n" { position += 1 }
                return fields
            }
        }

        private mutating func field() -> String? {
            var text = String.UnicodeScalarView()
            guard !isAtEnd, scalars[position] == "\"" else {
                while !isAtEnd, ![",", "\n", "\r"].contains(scalars[position]) {
                    text.append(scalars[position])
                    position += 1
                }
                return String(text)
            }
            position += 1
            while !isAtEnd {
                let scalar = scalars[position]
                position += 1
                guard scalar == "\"" else {
                    text.append(scalar)
                    continue
                }
                guard !isAtEnd, scalars[position] == "\"" else { return atSeparator ? String(text) : nil }
                text.append("\"")
                position += 1
            }
            return nil
        }

        private var atSeparator: Bool { isAtEnd || [",", "\n", "\r"].contains(scalars[position]) }
    }
}
