// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// Times of certificates (RFC 5280 §4.1.2.5) as seconds since 1970-01-01 00:00 UTC.
package enum DERTime {
    /// Reads UTCTime or GeneralizedTime in UTC, to the second; `nil` for anything else.
    static func seconds(_ object: TLV) -> Int64? {
        var digits = object.value[...]
        guard digits.popLast() == UInt8(ascii: "Z") else { return nil }
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        var numbers = digits.map { Int($0) - 48 }
        switch (object.tag, numbers.count) {
        case (0x17, 12): numbers = (numbers[0] < 5 ? [2, 0] : [1, 9]) + numbers
        case (0x18, 14): break
        default: return nil
        }
        func field(_ start: Int, _ count: Int) -> Int { numbers[start..<(start + count)].reduce(0) { $0 * 10 + $1 } }
        let (hour, minute, second) = (field(8, 2), field(10, 2), field(12, 2))
        guard let date = UTCDate(field(0, 4), field(4, 2), field(6, 2)), hour < 24, minute < 60, second < 61 else {
            return nil
        }
        return date.seconds + Int64((hour * 60 + minute) * 60 + second)
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
