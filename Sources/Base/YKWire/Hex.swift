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

    /// Decodes pairs of digits of either case.
    ///
    /// - Throws: `WireError` with the offset for an odd count or another character.
    public static func decode(_ text: some StringProtocol) throws(WireError) -> [UInt8] {
        let characters = Array(text.utf8)
        guard characters.count.isMultiple(of: 2) else {
            throw WireError(.truncated, at: characters.count, "odd number of hexadecimal digits")
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count / 2)
        for index in stride(from: 0, to: characters.count, by: 2) {
            bytes.append(try nibble(characters, index) << 4 | nibble(characters, index + 1))
        }
        return bytes
    }

    private static func nibble(_ characters: [UInt8], _ index: Int) throws(WireError) -> UInt8 {
        switch characters[index] {
        case let digit where digit >= 0x30 && digit <= 0x39: digit - 0x30
        case let digit where digit >= 0x41 && digit <= 0x46: digit - 0x41 + 10
        case let digit where digit >= 0x61 && digit <= 0x66: digit - 0x61 + 10
        default: throw WireError(.malformed, at: index, "not a hexadecimal digit")
        }
    }
}
