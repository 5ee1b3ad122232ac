// SPDX-License-Identifier: Apache-2.0

/// Patterns of names as OpenSSH compares them (ssh_config(5), PATTERNS): `*` for any string, `?` for any byte.
enum SSHPattern {
    /// The longest pattern in a list, in bytes (OpenSSH's match_pattern_list).
    private static let lengthLimit = 1022

    /// Whether a text matches a comma-separated list of patterns; a match of one that begins with `!` excludes it.
    static func fits(_ text: [UInt8], anyOf list: [UInt8]) -> Bool {
        var isMatched = false
        for part in list.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let isNegated = part.first == UInt8(ascii: "!")
            let pattern = isNegated ? part.dropFirst() : part
            guard pattern.count <= lengthLimit else { return false }
            guard fits(text[...], pattern) else { continue }
            if isNegated { return false }
            isMatched = true
        }
        return isMatched
    }

    /// Whether a text matches a pattern.
    static func fits(_ text: String, _ pattern: String) -> Bool {
        fits(Array(text.utf8)[...], Array(pattern.utf8)[...])
    }

    /// The run time grows with the product of the lengths.
    private static func fits(_ text: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
        var (place, mark) = (text.startIndex, text.startIndex)
        var (next, star): (Int, Int?) = (pattern.startIndex, nil)
        while place < text.endIndex {
            if next < pattern.endIndex, pattern[next] == UInt8(ascii: "*") {
                (star, mark) = (next, place)
                next += 1
            } else if next < pattern.endIndex, pattern[next] == UInt8(ascii: "?") || pattern[next] == text[place] {
                next += 1
                place += 1
            } else if let star {
                mark += 1
                (next, place) = (star + 1, mark)
            } else {
                return false
            }
        }
        return pattern[next...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
