// SPDX-License-Identifier: Apache-2.0

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
