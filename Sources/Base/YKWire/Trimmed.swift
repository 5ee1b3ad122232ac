// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The string without white space at either end.
    package var trimmed: String { self[...].trimmed }
}

extension Substring {
    /// The string without white space at either end.
    package var trimmed: String {
        var rest = unicodeScalars[...]
        while rest.first?.isWhiteSpace == true { rest = rest.dropFirst() }
        while rest.last?.isWhiteSpace == true { rest = rest.dropLast() }
        return String(rest)
    }
}

extension Unicode.Scalar {
    /// ASCII is handled without Unicode's tables, which a short run would otherwise load from the program's file for
    /// this alone.
    fileprivate var isWhiteSpace: Bool {
        isASCII ? value == 0x20 || (0x09...0x0D).contains(value) : properties.isWhitespace
    }
}
