// SPDX-License-Identifier: Apache-2.0

/// The CRC-16 of the Yubico OTP application and its tokens (ISO 13239): polynomial 8408 reflected, start FFFF.
public enum CRC16 {
    /// The remainder of a message followed by its CRC.
    public static let residue: UInt16 = 0xF0B8

    /// The remainder of the bytes, not complemented.
    public static func remainder(_ bytes: some Sequence<UInt8>) -> UInt16 {
        bytes.reduce(0xFFFF) { crc, byte in
            (0..<8).reduce(crc ^ UInt16(byte)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0x8408 }
        }
    }

    /// The two bytes that end a message so that ``isValid(_:)`` holds: the complemented remainder, least significant
    /// byte first.
    public static func trailer(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let crc = ~remainder(bytes)
        return [UInt8(truncatingIfNeeded: crc), UInt8(crc >> 8)]
    }

    /// Whether the last two bytes are the correct trailer for the bytes before them.
    public static func isValid(_ bytes: some Sequence<UInt8>) -> Bool { remainder(bytes) == residue }
}
