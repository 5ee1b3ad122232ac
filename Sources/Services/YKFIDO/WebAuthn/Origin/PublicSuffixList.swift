// SPDX-License-Identifier: Apache-2.0

import CPublicSuffix

/// The names under which anyone can register others (https://publicsuffix.org/list), as of the time of the build.
///
/// Nothing is parsed at startup: a name's rules are looked up in the sorted list.
public enum PublicSuffixList {
    /// The public suffix of a domain in lower case and Punycode; its last label if no rule matches.
    ///
    /// Of the matching rules, an exception wins, then the longest.
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

    /// The registrable domain, such as `example.co.uk` for `www.example.co.uk`; the domain itself if it is a public
    /// suffix.
    public static func registrableDomain(of domain: String) -> String {
        let depth = publicSuffix(of: domain).split(separator: ".").count
        return domain.split(separator: ".").suffix(depth + 1).joined(separator: ".")
    }

    /// Whether the sorted list contains a rule.
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

    /// The line that contains a position; each ends with a line feed.
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
