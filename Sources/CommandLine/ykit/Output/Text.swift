// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text with blanks behind it up to `width` columns.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - columns)) }

    /// The text with what would drive a terminal, or would not be seen on it, made visible: control characters and
    /// direction overrides come from a key or a file, not from us.
    var printable: String {
        guard unicodeScalars.contains(where: \.isHazardous) else { return self }
        var out = ""
        for scalar in unicodeScalars {
            if scalar.isHazardous {
                out += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                out.unicodeScalars.append(scalar)
            }
        }
        return out
    }
}

extension Unicode.Scalar {
    fileprivate var isHazardous: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x2069, 0xFEFF: true
        default: false
        }
    }
}

/// Rows with aligned columns.
enum Table {
    static func lines(_ rows: [[String]], gap: Int = 2) -> [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { column < $0.count ? $0[column].columns : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                line += column == row.count - 1 ? cell : cell.padded(to: widths[column] + gap)
            }
            return line
        }
    }
}
