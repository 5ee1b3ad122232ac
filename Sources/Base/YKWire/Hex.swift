// SPDX-License-Identifier: Apache-2.0

/// Bytes as pairs of hexadecimal digits.
public enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Encodes bytes as lower-case digits without separators.
    public static func encode(_ bytes: some Collection<UInt8>) -> String { digits(of: Array(bytes)) }

    /// Encodes bytes as lower-case digits without separators.
    public static func encode(_ bytes: [UInt8]) -> String { digits(of: bytes) }

    /// Encodes bytes as lower-case digits without separators.
    public static func encode(_ bytes: ArraySlice<UInt8>) -> String { digits(of: Array(bytes)) }

    private static func digits(of bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
            var index = 0
            for byte in bytes {
                buffer[index] = digits[Int(byte >> 4)]
                buffer[index + 1] = digits[Int(byte & 15)]
                index += 2
            }
            return index
        }
    }

    /// Encodes 16 bytes in the notation of UUIDs (RFC 9562 §4); other bytes without separators.
    package static func uuid(_ bytes: [UInt8]) -> String {
        guard bytes.count == 16 else { return encode(bytes) }
        return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { encode(bytes[$0]) }.listed(by: "-")
    }

    /// Decodes pairs of digits of either case.
    ///
    /// - Throws: `WireError` with the offset for an odd count or an invalid character.
    public static func decode(_ text: some StringProtocol) throws(WireError) -> [UInt8] {
        try pairs(of: text, "hexadecimal digit", nibble)
    }

    /// The value of a digit of either case; `nil` for any other character.
    @inline(__always) package static func nibble(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x41 + 10
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }

    /// Decodes pairs of digits, each of which stands for half a byte.
    @inline(__always) static func pairs(
        of text: some StringProtocol, _ name: String, _ value: (UInt8) -> UInt8?
    ) throws(WireError) -> [UInt8] {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else {
            throw WireError(.truncated, at: digits.count, "odd number of \(name)s")
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]) else { throw WireError(.malformed, at: index, "not a \(name)") }
            guard let low = value(digits[index + 1]) else {
                throw WireError(.malformed, at: index + 1, "not a \(name)")
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
