// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// Dates of the proleptic Gregorian calendar, computed without the operating system.
package enum UTCTime {
    /// Formats seconds since 1970 as `2025-10-09 08:53:00 UTC`, or as the bare number after the year 9999.
    package static func text(_ seconds: Int64) -> String {
        guard (0..<253_402_300_800).contains(seconds) else { return "\(seconds) s since 1970" }
        let (days, time) = seconds.quotientAndRemainder(dividingBy: 86400)
        let (year, month, day) = date(days)
        let clock = [time / 3600, time / 60 % 60, time % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2)) \(clock) UTC"
    }

    /// Converts days since 1970-01-01 to a date, using 400-year eras that begin on 1 March.
    private static func date(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
