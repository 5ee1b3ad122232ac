// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// Times in header fields (RFC 9110 §5.6.7).
public enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Parses an IMF-fixdate such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// - Returns: Seconds since 1970-01-01 00:00 UTC; `nil` for anything else.
    public static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT", let day = number(parts[1], 2),
            let month = months.firstIndex(of: String(parts[2])), let year = number(parts[3], 4),
            let date = UTCDate(year, month + 1, day)
        else { return nil }
        let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false).map { number($0, 2) }
        guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2], hour < 24,
            minute < 60, second <= 60
        else { return nil }
        return date.seconds + Int64(hour * 3600 + minute * 60 + second)
    }

    private static func number(_ text: Substring, _ count: Int) -> Int? {
        guard text.utf8.count == count, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }
}

extension HTTPResponse {
    /// The server's time in the header field `Date` (RFC 9110 §6.6.1), in seconds since 1970-01-01 00:00 UTC; `nil`
    /// when it is absent or invalid.
    public var date: Int64? { fields.values(of: "Date").first.flatMap(HTTPDate.seconds) }
}
