// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Times of certificates (RFC 5280 §4.1.2.5) as seconds since 1970.
enum DERTime {
    /// Reads UTCTime or GeneralizedTime in UTC, to the second; `nil` for anything else.
    static func seconds(_ object: TLV) -> Int64? {
        var digits = object.value[...]
        guard digits.popLast() == UInt8(ascii: "Z") else { return nil }
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        var numbers = digits.map { Int64($0) - 48 }
        switch (object.tag, numbers.count) {
        case (0x17, 12): numbers = (numbers[0] < 5 ? [2, 0] : [1, 9]) + numbers
        case (0x18, 14): break
        default: return nil
        }
        func field(_ start: Int, _ count: Int) -> Int64 { numbers[start..<(start + count)].reduce(0) { $0 * 10 + $1 } }
        let (month, day) = (field(4, 2), field(6, 2))
        let (hour, minute, second) = (field(8, 2), field(10, 2), field(12, 2))
        guard (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 61 else { return nil }
        return days(field(0, 4), month, day) * 86400 + hour * 3600 + minute * 60 + second
    }

    /// UTCTime until 2049, GeneralizedTime from 2050 on; `nil` outside the years 1950 to 9999.
    static func object(_ seconds: Int64) -> TLV? {
        guard (-631_152_000..<253_402_300_800).contains(seconds) else { return nil }
        let day = seconds >= 0 ? seconds / 86400 : (seconds - 86399) / 86400
        let (year, month, dayOfMonth) = date(day)
        let rest = seconds - day * 86400
        let parts = [month, dayOfMonth, rest / 3600, rest / 60 % 60, rest % 60].map { two($0) }.joined() + "Z"
        if year < 2050 { return TLV(0x17, Array((two(year % 100) + parts).utf8)) }
        return TLV(0x18, Array((two(year / 100) + two(year % 100) + parts).utf8))
    }

    private static func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + String(number) }

    /// Days since 1970-01-01 in the Gregorian calendar; years start in March, so that the leap day is the last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let ofEra = year - era * 400
        let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    }

    private static func date(_ day: Int64) -> (Int64, Int64, Int64) {
        let shifted = day + 719_468
        let era = shifted / 146_097
        let ofEra = shifted - era * 146_097
        let year = (ofEra - ofEra / 1460 + ofEra / 36524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * year + year / 4 - year / 100)
        let month = (5 * ofYear + 2) / 153
        let civil = month < 10 ? month + 3 : month - 9
        return (year + era * 400 + (civil <= 2 ? 1 : 0), civil, ofYear - (153 * month + 2) / 5 + 1)
    }
}
