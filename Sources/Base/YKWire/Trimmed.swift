// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The string without white space at either end.
    package var trimmed: String { self[...].trimmed }
}

extension Substring {
    /// The string without white space at either end.
    package var trimmed: String {
        var rest = self
        while rest.first?.isWhitespace == true { rest = rest.dropFirst() }
        while rest.last?.isWhitespace == true { rest = rest.dropLast() }
        return String(rest)
    }
}
