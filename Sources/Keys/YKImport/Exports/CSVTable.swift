// SPDX-License-Identifier: Apache-2.0

import YKOATH
import YKWire

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
        var bytes = Array(text.utf8)
        var separators = Array(",;\t".utf8)
        // Excel's first line "sep=;" names the separator.
        if bytes.count > 5, String(decoding: bytes.prefix(4), as: UTF8.self).lowercased() == "sep=",
            [0x0A, 0x0D].contains(bytes[5])
        {
            separators = [bytes[4]]
            bytes = Array(bytes.dropFirst(5).drop { $0 == 0x0A || $0 == 0x0D })
        }
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

    /// What a row has in the column of the codes.
    enum Code {
        /// The row has no account.
        case none
        /// The text of the column.
        case text(String)
        /// An `otpauth://` URI that is in another column, since the row has other columns than the header.
        case uri(String)
        /// The row has another number of fields than the header, and no URI, so its code cannot be found.
        case shifted(OtpauthError)
    }

    /// Finds the code of a row.
    ///
    /// Some programs write commas without quotes, which shifts the fields behind them: what then stands in the column may
    /// be a password, so only a URI counts, wherever it is.
    func code(of row: [String], in column: Int) -> Code {
        let end = row.lastIndex { !$0.trimmed.isEmpty }.map { $0 + 1 } ?? 0
        let text = column < row.count ? row[column].trimmed : ""
        if text.isOtpauth { return .text(text) }
        let isAligned = end <= header.count && column < row.count
        if isAligned, !text.isEmpty { return .text(text) }
        if let uri = row.first(where: { $0.trimmed.isOtpauth }) { return .uri(uri.trimmed) }
        if isAligned || end == 0 { return .none }
        return .shifted(OtpauthError(.secret, .shiftedRow(fields: row.count, columns: header.count)))
    }

    /// The accounts of the rows with a code, whose columns have these names.
    func entries(code: String, title: String, user: String) -> [AuthenticatorExport.Entry] {
        guard let column = columns[code] else { return [] }
        return rows.enumerated().compactMap { number, row in
            switch self.code(of: row, in: column) {
            case .none: nil
            case .text(let code): ExportFields.entry(code: code, title: self[row, title], user: self[row, user])
            case .uri(let uri): ExportFields.entry(code: uri, title: nil, user: nil)
            case .shifted(let error): .init(label: "row \(number + 2)", account: .failure(error))
            }
        }
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

extension String {
    /// Whether it begins like an `otpauth://` URI.
    fileprivate var isOtpauth: Bool { lowercased().hasPrefix("otpauth://") }
}
