// SPDX-License-Identifier: Apache-2.0

import YKCrypto
package import YKWire

/// A one-time code and its validity.
public struct OATHCode: Hashable, Sendable {
    /// The code as the user types it.
    public let text: String
    /// The first second of its validity, since 1970; for a counter-based code the time it was calculated.
    public let validFrom: Int64
    /// The first second after its validity, since 1970; `nil` for a counter-based code, which is valid until one is
    /// used.
    public let validTo: Int64?

    /// Creates a code.
    public init(text: String, validFrom: Int64, validTo: Int64?) {
        self.text = text
        self.validFrom = validFrom
        self.validTo = validTo
    }

    init(text: String, id: OATHAccountID, at time: Int64) {
        guard id.type == .totp else {
            self.init(text: text, validFrom: time, validTo: nil)
            return
        }
        let step = TimeStep(of: time, period: id.period)
        self.init(text: text, validFrom: step.start, validTo: step.end)
    }
}

extension OATHCode: CustomStringConvertible {
    /// The code as the user types it.
    public var description: String { text }
}

/// The value of a truncated or full response: the number of digits, then the response (YKOATH, "CALCULATE").
package struct OATHResponse: Hashable, Sendable {
    package let digits: Int
    /// Four bytes if truncated, otherwise the whole HMAC.
    package let bytes: [UInt8]
    package let isTruncated: Bool

    package init(_ reader: inout ByteReader, isTruncated: Bool) throws(WireError) {
        let start = reader.offset
        digits = try Self.digits(&reader)
        bytes = reader.rest()
        self.isTruncated = isTruncated
        guard isTruncated ? bytes.count == 4 : [20, 32, 64].contains(bytes.count) else {
            throw WireError(.malformed, at: start, "a response of \(bytes.count) bytes")
        }
    }

    static func digits(_ reader: inout ByteReader) throws(WireError) -> Int {
        let start = reader.offset
        let digits = Int(try reader.byte("the number of digits"))
        guard (1...10).contains(digits) else {
            throw WireError(.malformed, at: start, "a code of \(digits) digits")
        }
        return digits
    }

    /// The 31 bits from which a code is formed (RFC 4226 §5.3, dynamic truncation).
    var number: UInt32 {
        isTruncated ? OneTimePassword.number(at: 0, in: bytes) : OneTimePassword.number(of: bytes)
    }

    /// The code in decimal digits, with leading zeros.
    var decimal: String { OneTimePassword.decimal(number, digits: digits) }

    /// Whether the firmware may already have reduced the number to its digits; Steam Guard needs all 31 bits.
    var mayBeReduced: Bool { isTruncated && UInt64(number) < OneTimePassword.power(digits) }
}

/// The moving factor of a time-based code (RFC 6238 §4.2): the number of periods since 1970.
struct TimeStep: Hashable, Sendable {
    let number: Int64
    let start: Int64
    let end: Int64

    init(of time: Int64, period: Duration) {
        let period = max(1, period.components.seconds)
        let (quotient, remainder) = time.quotientAndRemainder(dividingBy: period)
        number = remainder < 0 ? quotient - 1 : quotient
        start = time.subtractingReportingOverflow(remainder < 0 ? remainder + period : remainder).partialValue
        let (end, overflows) = start.addingReportingOverflow(period)
        self.end = overflows ? .max : end
    }

    /// The number as eight bytes, most significant first.
    var challenge: [UInt8] {
        var writer = ByteWriter(capacity: 8)
        writer.bigEndian(UInt64(bitPattern: number), 8)
        return writer.bytes
    }
}

/// Steam Guard's code format: five characters, base 26 with its own alphabet, least significant first.
public enum SteamGuard {
    private static let alphabet = Array("23456789BCDFGHJKMNPQRTVWXY")

    /// Formats the 31 bits of dynamic truncation (RFC 4226 §5.3) as a Steam Guard code.
    public static func code(_ number: UInt32) -> String {
        var rest = Int(number & 0x7FFF_FFFF)
        var text = ""
        for _ in 0..<5 {
            text.append(alphabet[rest % alphabet.count])
            rest /= alphabet.count
        }
        return text
    }
}
