// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The string without white space at either end.
    package var trimmed: String { self[...].trimmed }
}

extension Substring {
    /// The string without white space at either end.
    package var trimmed: String {
        let scalars = unicodeScalars
        var (start, end) = (startIndex, endIndex)
        while start < end, scalars[start].isWhiteSpace { start = scalars.index(after: start) }
        while start < end {
            // 'dropLast()' counts all that is before the last.
            let last = scalars.index(before: end)
            guard scalars[last].isWhiteSpace else { break }
            end = last
        }
        return String(scalars[start..<end])
    }
}

extension Unicode.Scalar {
    /// ASCII is handled without Unicode's tables, which a short run would otherwise load from the program's file for
    /// this alone.
    fileprivate var isWhiteSpace: Bool {
        isASCII ? value == 0x20 || (0x09...0x0D).contains(value) : properties.isWhitespace
    }
}
