// SPDX-License-Identifier: Apache-2.0

/// A one-time password derived from an HMAC (RFC 4226 §5.3), as in HOTP, TOTP and OCRA.
package enum OneTimePassword {
    /// The 31 bits selected by the last byte of an HMAC (dynamic truncation). `hmac` should have at least 20 bytes;
    /// missing bytes are skipped.
    package static func number(of hmac: [UInt8]) -> UInt32 {
        number(at: Int((hmac.last ?? 0) & 0x0F), in: hmac)
    }

    /// The 31 bits at an offset, most significant byte first.
    package static func number(at offset: Int, in bytes: [UInt8]) -> UInt32 {
        bytes.dropFirst(offset).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
    }

    /// The last digits of a number in decimal, with leading zeros.
    ///
    /// - Parameter digits: 1 to 10.
    package static func decimal(_ number: UInt32, digits: Int) -> String {
        let text = String(UInt64(number) % power(digits))
        return String(repeating: "0", count: digits - text.utf8.count) + text
    }

    /// 10 to the power of a number of digits.
    package static func power(_ digits: Int) -> UInt64 { (0..<digits).reduce(1) { power, _ in power * 10 } }
}
