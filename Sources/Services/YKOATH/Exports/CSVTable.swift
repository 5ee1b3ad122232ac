// SPDX-License-Identifier: Apache-2.0

/// Values separated by commas, semicolons or tabs, with a header line (RFC 4180): quoted fields may hold separators, line
/// breaks and doubled quotes.
struct CSVTable: Sendable {
    /// The fields of the first row.
    private(set) var header: [String] = []
    /// The rows after the header; a row may have fewer fields than the header.
    private(set) var rows: [[String]] = []
    private var columns: [String: Int] = [:]

    /// Maximum number of fields in a row, and in the table.
    static let widthLimit = 1 << 10, fieldLimit = 1 << 20

    /// Reads a table; `nil` if the header has fewer columns, a quoted field is unterminated, or there are too many fields.
    init?(_ text: String, columns minimum: Int = 2) {
        let bytes = Array(text.utf8)
        let separators = Array(",;\t".utf8)
        let widths = separators.map { separator in
            var reader = Reader(bytes: bytes, separator: separator)
            return reader.row()?.count ?? 0
        }
        guard let width = widths.max(), width >= minimum, let place = widths.firstIndex(of: width) else { return nil }
        var reader = Reader(bytes: bytes, separator: separators[place])
        header = reader.row() ?? []
        for (index, name) in header.enumerated() where columns[name] == nil { columns[name] = index }
        var count = 0
        while !reader.isAtEnd {
            guard let row = reader.row(), count + row.count <= Self.fieldLimit else { return nil }
            count += row.count
            if row != [""] { rows.append(row) }
        }
    }

    /// Whether the header has these columns.
    func has(_ names: String...) -> Bool { names.allSatisfy { columns[$0] != nil } }

    /// A field of a row; empty when the row ends before it.
    subscript(row: [String], column: String) -> String {
        guard let index = columns[column], index < row.count else { return "" }
        return row[index]
    }

    private struct Reader {
        let bytes: [UInt8]
        let separator: UInt8
        var position = 0
        var isAtEnd: Bool { position == bytes.count }

        private static let quote = UInt8(ascii: "\""), lineFeed = UInt8(ascii: "\n"),
            carriageReturn = UInt8(ascii: "\r")

        /// Reads one row and its line break; `nil` if a quoted field is unterminated, or the row is too wide.
        mutating func row() -> [String]? {
            var fields: [String] = []
            while fields.count < CSVTable.widthLimit {
                guard let field = field() else { return nil }
                fields.append(field)
                guard !isAtEnd else { return fields }
                let end = bytes[position]
                position += 1
                if end == separator { continue }
                if end == Self.carriageReturn, !isAtEnd, bytes[position] == Self.lineFeed { position += 1 }
                return fields
            }
            return nil
        }

        private mutating func field() -> String? {
            let start = position
            guard !isAtEnd, bytes[position] == Self.quote else {
                while !isAtSeparator { position += 1 }
                return String(decoding: bytes[start..<position], as: UTF8.self)
            }
            position += 1
            var text: [UInt8] = []
            while !isAtEnd {
                let byte = bytes[position]
                position += 1
                guard byte == Self.quote else {
                    text.append(byte)
                    continue
                }
                guard !isAtEnd, bytes[position] == Self.quote else {
                    return isAtSeparator ? String(decoding: text, as: UTF8.self) : nil
                }
                text.append(Self.quote)
                position += 1
            }
            return nil
        }

        private var isAtSeparator: Bool {
            isAtEnd || [separator, Self.lineFeed, Self.carriageReturn].contains(bytes[position])
        }
    }
}
