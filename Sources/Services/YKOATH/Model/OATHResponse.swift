// SPDX-License-Identifier: Apache-2.0

import YKCrypto
package import YKWire

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
