// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A time as OpenSSH's files write it (ssh-keygen(1), ALLOWED SIGNERS): `YYYYMMDD`, `YYYYMMDDHHMM` or
/// `YYYYMMDDHHMMSS`, in the system's time zone, or in UTC if followed by `Z` or `UTC`.
enum SSHTime {
    /// Returns the time in seconds since 1970; `nil` for any other text, and for times that ssh-keygen refuses.
    static func seconds(_ text: [UInt8]) -> UInt64? {
        var digits = text
        var isUTC = false
        for suffix in ["Z", "UTC"] where !isUTC && digits.count > suffix.utf8.count {
            guard String(decoding: digits.suffix(suffix.utf8.count), as: UTF8.self).uppercased() == suffix else {
                continue
            }
            digits.removeLast(suffix.utf8.count)
            isUTC = true
        }
        guard [8, 12, 14].contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        func number(_ range: Range<Int>) -> Int32 {
            range.upperBound <= digits.count ? digits[range].reduce(0) { $0 * 10 + Int32($1) - 0x30 } : 0
        }
        let (month, day) = (number(4..<6), number(6..<8))
        let (hour, minute, second) = (number(8..<10), number(10..<12), number(12..<14))
        guard (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 61 else { return nil }
        var time = tm()
        (time.tm_year, time.tm_mon, time.tm_mday) = (number(0..<4) - 1900, month - 1, day)
        (time.tm_hour, time.tm_min, time.tm_sec) = (hour, minute, second)
        // As in ssh-keygen, no daylight saving time; days that a month lacks are days of the next one.
        let seconds = isUTC ? timegm(&time) : mktime(&time)
        return seconds > 0 ? UInt64(seconds) : nil
    }
}
