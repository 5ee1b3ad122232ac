// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// Objects in distinguished encoding (X.690 §10, §11): lengths are definite and in their shortest form.
extension ByteReader {
    /// Reads one object of any tag.
    package mutating func der() throws(WireError) -> TLV { try tlv(lengths: .shortest) }

    /// Reads objects until nothing is left.
    package mutating func derObjects() throws(WireError) -> [TLV] { try tlvs(lengths: .shortest) }

    /// Reads one object that must have this tag, and returns a reader over its value.
    package mutating func der(_ expected: TLV.Tag, _ what: String) throws(WireError) -> ByteReader {
        try tlv(expected, what, lengths: .shortest)
    }

    /// Reads a SEQUENCE, and returns it with its tag and length.
    mutating func derSequence(_ what: String) throws(WireError) -> [UInt8] {
        var content = try der(0x30, what)
        return TLV(0x30, content.rest()).encoded
    }

    /// Reads an OCTET STRING.
    package mutating func derOctets(_ what: String) throws(WireError) -> [UInt8] {
        var content = try der(0x04, what)
        return content.rest()
    }

    /// Reads an INTEGER in its shortest form.
    ///
    /// - Returns: The two's complement, most significant byte first.
    package mutating func derInteger(_ what: String) throws(WireError) -> [UInt8] {
        let start = offset
        var content = try der(0x02, what)
        let bytes = content.rest()
        guard let first = bytes.first else { throw WireError(.malformed, at: start, "\(what) is empty") }
        if bytes.count > 1, first == 0x00 && bytes[1] < 0x80 || first == 0xFF && bytes[1] >= 0x80 {
            throw WireError(.malformed, at: start, "\(what) is not in its shortest form")
        }
        return bytes
    }

    /// Reads an INTEGER from 0 to 2³¹ - 1.
    package mutating func derNumber(_ what: String) throws(WireError) -> Int {
        let start = offset
        let bytes = try derInteger(what)
        guard bytes.count <= 4, bytes[0] < 0x80 else {
            throw WireError(.malformed, at: start, "\(what) is negative or above 2147483647")
        }
        return bytes.reduce(0) { $0 << 8 | Int($1) }
    }

    /// Reads a BOOLEAN of one byte. Some programs write 01 instead of FF for true, which every other reader accepts.
    mutating func derBoolean(_ what: String) throws(WireError) -> Bool {
        let start = offset
        var content = try der(0x01, what)
        let bytes = content.rest()
        guard bytes.count == 1 else { throw WireError(.malformed, at: start, "\(what) is not one byte") }
        return bytes[0] != 0
    }

    /// Reads a BIT STRING whose unused bits are zero.
    mutating func derBits(_ what: String) throws(WireError) -> [UInt8] {
        let start = offset
        var content = try der(0x03, what)
        let unused = try content.byte("the number of unused bits")
        let bytes = content.rest()
        guard unused < 8, (bytes.last ?? 0) & (1 << unused - 1) == 0, unused == 0 || !bytes.isEmpty else {
            throw WireError(.malformed, at: start, "\(what) has \(unused) unused bits, or uses them")
        }
        return bytes
    }

    /// Reads an object identifier.
    package mutating func derOID(_ what: String) throws(WireError) -> OID {
        let start = offset
        var content = try der(0x06, what)
        guard let oid = OID(content: content.rest()) else {
            throw WireError(.malformed, at: start, "\(what) is not an object identifier")
        }
        return oid
    }
}

/// An object identifier (X.660), such as `2.5.4.3`.
public struct OID: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The content of its encoding (X.690 §8.19).
    let content: [UInt8]

    /// The limits for the content and for its first number, in bytes.
    private static let (limit, firstLimit) = (64, 9)

    /// Reads the content of an object identifier; `nil` if it is empty, truncated, longer than 64 bytes, or has a number
    /// that is not in its shortest form.
    init?(content: [UInt8]) {
        guard let last = content.last, last < 0x80, content.count <= Self.limit else { return nil }
        let numbers = Self.numbers(content)
        guard !numbers.contains(where: { $0.first == 0x80 }), numbers[0].count <= Self.firstLimit else { return nil }
        self.content = content
    }

    /// Parses the dotted form: 2 to 32 numbers below 2³²; `nil` for anything else.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt32(part).map(UInt64.init) : nil
        }
        guard numbers.count == parts.count, (2...32).contains(numbers.count), numbers[0] <= 2 else { return nil }
        guard numbers[0] == 2 || numbers[1] < 40 else { return nil }
        self.init(content: ([numbers[0] * 40 + numbers[1]] + numbers.dropFirst(2)).flatMap(Self.groups))
    }

    /// Parses the dotted form. A literal that is not one gives an empty identifier, which no certificate contains.
    public init(stringLiteral text: String) { content = OID(text)?.content ?? [] }

    /// The identifier, DER.
    package var encoded: [UInt8] { TLV(0x06, content).encoded }

    /// The dotted form.
    public var description: String {
        let numbers = Self.numbers(content)
        guard let start = numbers.first else { return "" }
        let first = start.reduce(UInt64(0)) { $0 << 7 | UInt64($1 & 0x7F) }
        let arc = min(2, first / 40)
        return (["\(arc)", "\(first - arc * 40)"] + numbers.dropFirst().map(Self.decimal)).listed(by: ".")
    }

    /// The groups of seven bits of each number.
    private static func numbers(_ content: [UInt8]) -> [ArraySlice<UInt8>] {
        let ends = content.indices.filter { content[$0] < 0x80 }.map { $0 + 1 }
        return zip([0] + ends, ends).map { content[$0..<$1] }
    }

    /// A number in decimal; identifiers made from UUIDs have numbers of 128 bits.
    private static func decimal(_ groups: ArraySlice<UInt8>) -> String {
        var digits: [Int] = [0]  // The last digit first.
        for group in groups {
            var carry = Int(group & 0x7F)
            for index in digits.indices {
                carry += digits[index] << 7
                digits[index] = carry % 10
                carry /= 10
            }
            while carry > 0 {
                digits.append(carry % 10)
                carry /= 10
            }
        }
        return digits.reversed().map(String.init).joined()
    }

    /// Groups of seven bits, all but the last marked.
    private static func groups(_ number: UInt64) -> [UInt8] {
        var groups = [UInt8(truncatingIfNeeded: number & 0x7F)]
        var rest = number >> 7
        while rest > 0 {
            groups.append(UInt8(truncatingIfNeeded: rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return groups.reversed()
    }
}

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
