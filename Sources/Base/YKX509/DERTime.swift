// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// Times of certificates (RFC 5280 §4.1.2.5) as seconds since 1970-01-01 00:00 UTC.
package enum DERTime {
    /// Reads UTCTime or GeneralizedTime, to the second; `nil` for anything else. Older programs leave the seconds out,
    /// write fractions of a second, or the difference from UTC (X.680 §46, §47).
    static func seconds(_ object: TLV) -> Int64? {
        guard let (text, difference) = zone(object.value) else { return nil }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 1 || parts.count == 2 && object.tag == 0x18 && !parts[1].isEmpty,
            parts.allSatisfy({ $0.allSatisfy { (0x30...0x39).contains($0) } }), let digits = parts.first
        else { return nil }
        var numbers = digits.map { Int($0) - 48 }
        if object.tag == 0x17, numbers.count >= 2 { numbers = (numbers[0] < 5 ? [2, 0] : [1, 9]) + numbers }
        guard object.tag == 0x17 || object.tag == 0x18, numbers.count == 14 || numbers.count == 12 && parts.count == 1
        else { return nil }
        func field(_ start: Int, _ count: Int) -> Int { numbers[start..<(start + count)].reduce(0) { $0 * 10 + $1 } }
        let (hour, minute, second) = (field(8, 2), field(10, 2), numbers.count == 14 ? field(12, 2) : 0)
        guard let date = UTCDate(field(0, 4), field(4, 2), field(6, 2)), hour < 24, minute < 60, second < 61 else {
            return nil
        }
        return date.seconds + Int64((hour * 60 + minute) * 60 + second) - difference
    }

    /// Splits a time from `Z` or `+hhmm`, the difference from UTC in seconds.
    private static func zone(_ bytes: [UInt8]) -> (text: ArraySlice<UInt8>, difference: Int64)? {
        if bytes.last == UInt8(ascii: "Z") { return (bytes.dropLast(), 0) }
        let digits = bytes.suffix(4).map { Int64($0) - 48 }
        guard bytes.count > 5, digits.allSatisfy({ (0...9).contains($0) }) else { return nil }
        let (hours, minutes) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
        guard hours < 24, minutes < 60 else { return nil }
        switch bytes[bytes.count - 5] {
        case UInt8(ascii: "+"): return (bytes.dropLast(5), (hours * 60 + minutes) * 60)
        case UInt8(ascii: "-"): return (bytes.dropLast(5), -(hours * 60 + minutes) * 60)
        default: return nil
        }
    }

    /// UTCTime until 2049, GeneralizedTime from 2050 on; `nil` outside the years 1950 to 9999.
    package static func object(_ seconds: Int64) -> TLV? {
        let date = UTCDate(seconds: seconds)
        let year = date.parts.year
        guard (1950...9999).contains(year), (0..<86_400).contains(seconds - date.seconds) else { return nil }
        let digits = UTCDate.timestamp(seconds).utf8.filter { (0x30...0x39).contains($0) } + [UInt8(ascii: "Z")]
        return year < 2050 ? TLV(0x17, Array(digits.dropFirst(2))) : TLV(0x18, digits)
    }
}
