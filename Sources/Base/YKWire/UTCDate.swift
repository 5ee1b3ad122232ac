// SPDX-License-Identifier: Apache-2.0

/// A day of the proleptic Gregorian calendar, in UTC.
public struct UTCDate: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Days since 1970-01-01.
    public let day: Int

    /// Creates a day from its distance to 1970-01-01, clamped to the years -9999 to 9999.
    public init(day: Int) { self.day = min(max(day, -4_371_953), 2_932_896) }

    /// The day of a time in seconds since 1970-01-01 00:00 UTC.
    public init(seconds: Int64) { self.init(day: Int(clamping: Self.quotient(seconds, 86_400))) }

    /// Creates a day from year, month and day of the month; `nil` when the calendar has no such day.
    public init?(_ year: Int, _ month: Int, _ dayOfMonth: Int) {
        guard (0...9999).contains(year), (1...12).contains(month), (1...31).contains(dayOfMonth) else { return nil }
        // Years start in March here, so that leap days are at their end.
        let shifted = month <= 2 ? year - 1 : year
        let era = Self.quotient(shifted, 400)
        let ofEra = shifted - era * 400
        let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + dayOfMonth - 1
        self.init(day: era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468)
        guard parts == (year, month, dayOfMonth) else { return nil }
    }

    /// Parses `YYYY-MM-DD` or `YYYY/MM/DD`; `nil` for anything else.
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 10, bytes[4] == bytes[7], bytes[4] == 0x2D || bytes[4] == 0x2F else { return nil }
        func number(_ range: Range<Int>) -> Int? {
            var value = 0
            for byte in bytes[range] {
                guard (0x30...0x39).contains(byte) else { return nil }
                value = value * 10 + Int(byte - 0x30)
            }
            return value
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10) else { return nil }
        self.init(year, month, day)
    }

    /// Year, month (1 to 12) and day of the month (1 to 31).
    public var parts: (year: Int, month: Int, day: Int) {
        let shifted = day + 719_468
        let era = Self.quotient(shifted, 146_097)
        let ofEra = shifted - era * 146_097
        let year = (ofEra - ofEra / 1460 + ofEra / 36524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * year + year / 4 - year / 100)
        let month = (5 * ofYear + 2) / 153
        let civil = month < 10 ? month + 3 : month - 9
        return (year + era * 400 + (civil <= 2 ? 1 : 0), civil, ofYear - (153 * month + 2) / 5 + 1)
    }

    /// The first second of the day, in seconds since 1970-01-01 00:00 UTC.
    public var seconds: Int64 { Int64(day) * 86_400 }

    /// `YYYY-MM-DD` (ISO 8601).
    public var description: String { text(separator: "-") }

    /// `YYYY-MM-DDThh:mm:ssZ` (RFC 3339) for a time in seconds since 1970-01-01 00:00 UTC.
    public static func timestamp(_ seconds: Int64) -> String { timestamp(seconds, zone: "Z") }

    /// Date and time of day, with text between them and a zone at the end, for a time in seconds since 1970-01-01 00:00
    /// UTC.
    package static func timestamp(_ seconds: Int64, separator: String = "T", zone: String) -> String {
        let date = UTCDate(seconds: seconds)
        let (rest, isOutside) = seconds.subtractingReportingOverflow(date.seconds)
        let time = isOutside ? 0 : Int(min(max(rest, 0), 86_399))
        let clock = [time / 3600, time / 60 % 60, time % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(date)\(separator)\(clock)\(zone)"
    }

    /// Year, month and day with a separator between them.
    public func text(separator: String) -> String {
        let (year, month, day) = parts
        return "\(Self.padded(year, 4))\(separator)\(Self.padded(month, 2))\(separator)\(Self.padded(day, 2))"
    }

    /// Whether a day comes before another.
    public static func < (left: UTCDate, right: UTCDate) -> Bool { left.day < right.day }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Division that rounds down.
    private static func quotient<Number: BinaryInteger>(_ number: Number, _ divisor: Number) -> Number {
        let remainder = number % divisor
        return number / divisor - (remainder < 0 ? 1 : 0)
    }
}
