// SPDX-License-Identifier: Apache-2.0

/// A day of the Gregorian calendar as ISO 8601 writes it.
enum Day {
    /// The day of a time in seconds since 1970, in UTC.
    static func text(_ seconds: Int64) -> String {
        let (year, month, day) = date(seconds.quotient(86_400))
        return "\(year)-\(two(month))-\(two(day))"
    }

    private static func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + String(number) }

    /// Years run from March here, so that leap days stand at their end.
    private static func date(_ day: Int64) -> (Int64, Int64, Int64) {
        let shifted = day + 719_468
        let era = shifted.quotient(146_097)
        let ofEra = shifted - era * 146_097
        let year = (ofEra - ofEra / 1460 + ofEra / 36524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * year + year / 4 - year / 100)
        let month = (5 * ofYear + 2) / 153
        let civil = month < 10 ? month + 3 : month - 9
        return (year + era * 400 + (civil <= 2 ? 1 : 0), civil, ofYear - (153 * month + 2) / 5 + 1)
    }
}

extension Int64 {
    /// Division that rounds down.
    fileprivate func quotient(_ divisor: Int64) -> Int64 { (self - (self % divisor + divisor) % divisor) / divisor }
}
