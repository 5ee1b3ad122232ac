// SPDX-License-Identifier: Apache-2.0

import CPublicSuffix

/// Under which names anybody can register others (https://publicsuffix.org/list), as it was when this was built.
///
/// Nothing is read at the start: a name's rules are searched for in the sorted text of all of them.
public enum PublicSuffixList {
    /// The public suffix of a domain in small letters and Punycode; without a rule for it, its last label.
    ///
    /// Of the rules that fit, an exception wins, then the longest.
    public static func publicSuffix(of domain: String) -> String {
        let labels = domain.split(separator: ".", omittingEmptySubsequences: false)
        for start in labels.indices {
            let name = labels[start...].joined(separator: ".")
            let above = labels[(start + 1)...].joined(separator: ".")
            if contains("!" + name) { return above }
            if contains(name) || contains("*." + above) { return name }
        }
        return String(labels.last ?? "")
    }

    /// The name under a public suffix that somebody owns, such as `example.co.uk` for `www.example.co.uk`; the domain
    /// itself when it is a public suffix.
    public static func registrableDomain(of domain: String) -> String {
        let depth = publicSuffix(of: domain).split(separator: ".").count
        return domain.split(separator: ".").suffix(depth + 1).joined(separator: ".")
    }

    /// Whether a rule stands in the sorted list.
    private static func contains(_ rule: String) -> Bool {
        let list = UnsafeBufferPointer(start: ykit_public_suffixes(), count: ykit_public_suffixes_length())
        let wanted = Array(rule.utf8)
        var (low, high) = (0, list.count)
        while low < high {
            let line = line(around: low + (high - low) / 2, in: list, low, high)
            let found = list[line]
            if found.elementsEqual(wanted) { return true }
            if found.lexicographicallyPrecedes(wanted) { low = line.upperBound + 1 } else { high = line.lowerBound }
        }
        return false
    }

    /// The line that a place is in; each ends with a line feed.
    private static func line(
        around place: Int, in list: UnsafeBufferPointer<UInt8>, _ low: Int, _ high: Int
    ) -> Range<Int> {
        var start = place
        while start > low, list[start - 1] != 0x0A { start -= 1 }
        var end = place
        while end < high, list[end] != 0x0A { end += 1 }
        return start..<max(start, end)
    }
}
