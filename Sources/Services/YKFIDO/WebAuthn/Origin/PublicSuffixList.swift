// SPDX-License-Identifier: Apache-2.0

import CPublicSuffix
public import YKWire

/// The names under which anyone can register others (https://publicsuffix.org/list), by the newer of two lists: the
/// system's, if libpsl is installed, or the one of the time of the build.
///
/// Nothing is parsed at startup: a name's rules are looked up in the sorted list.
public struct PublicSuffixList: Sendable {
    /// The newest list of this system.
    public static let newest = PublicSuffixList(file: nil)
    /// The list of the time of the build.
    package static let builtIn = PublicSuffixList(
        date: UTCDate(String(cString: ykit_public_suffixes_date())) ?? UTCDate(day: 0), system: nil)

    /// The day of the list; for a file of the system, that of its last change.
    public let date: UTCDate
    /// Whether the list is the system's rather than the one of the build.
    public var isOfSystem: Bool { system != nil }
    /// libpsl's list, which is never changed or freed.
    private nonisolated(unsafe) let system: UnsafeRawPointer?

    private init(date: UTCDate, system: UnsafeRawPointer?) { (self.date, self.system) = (date, system) }

    /// Finds the newest list.
    ///
    /// - Parameter file: One more file for libpsl, in the list's own format or in libpsl's.
    package init(file: String?) {
        // A list of the same day is not newer.
        var time = Self.builtIn.date.seconds + 86_399
        let system = ykit_psl(file, &time)
        self = system == nil ? Self.builtIn : PublicSuffixList(date: UTCDate(seconds: time), system: system)
    }

    /// Whether the list is older than a year.
    ///
    /// - Parameter now: Seconds since 1970-01-01 00:00 UTC.
    public func isOld(at now: Int64) -> Bool { UTCDate(seconds: now).day - date.day > 365 }

    /// The date of the list, and whose it is.
    package var title: String {
        "the Public Suffix List of \(date) (\(isOfSystem ? "the system's" : "built into ykit"))"
    }

    /// The list if it is older than a year, as what to tell the user.
    ///
    /// - Parameter now: Seconds since 1970-01-01 00:00 UTC.
    package func outdated(at now: Int64) -> OutdatedSuffixList? {
        isOld(at: now) ? OutdatedSuffixList(title: title) : nil
    }

    /// The public suffix of a domain in lower case and Punycode; its last label if no rule matches.
    ///
    /// Of the matching rules, an exception wins, then the longest.
    public func publicSuffix(of domain: String) -> String {
        if let system { return String(decoding: domain.utf8.suffix(ykit_psl_suffix(system, domain)), as: UTF8.self) }
        let labels = domain.split(separator: ".", omittingEmptySubsequences: false)
        for start in labels.indices {
            let name = labels[start...].joined(separator: ".")
            let above = labels[(start + 1)...].joined(separator: ".")
            if Self.contains("!" + name) { return above }
            if Self.contains(name) || Self.contains("*." + above) { return name }
        }
        return String(labels.last ?? "")
    }

    /// The registrable domain, such as `example.co.uk` for `www.example.co.uk`; the domain itself if it is a public
    /// suffix.
    public func registrableDomain(of domain: String) -> String {
        let depth = publicSuffix(of: domain).split(separator: ".").count
        return domain.split(separator: ".").suffix(depth + 1).joined(separator: ".")
    }

    /// Whether the sorted list of the build contains a rule.
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

/// The newest list is older than a year.
package struct OutdatedSuffixList: Error, Hashable {
    /// Its date, and whose it is.
    package let title: String
}
