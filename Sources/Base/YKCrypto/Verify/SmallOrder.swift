// SPDX-License-Identifier: Apache-2.0

/// The points of small order on the curves of EdDSA (RFC 8032 §5), in every encoding. Such a public key has no private key of
/// its own: multiplied by the cofactor it is the neutral element, and fixed signatures are valid under it.
enum SmallOrder {
    /// Whether this encodes a point of order 1, 2, 4 or 8 on edwards25519.
    static func contains(ed25519 bytes: [UInt8]) -> Bool { contains(bytes, 32, smallOnEd25519) }

    /// Whether this encodes a point of order 1, 2 or 4 on edwards448.
    static func contains(ed448 bytes: [UInt8]) -> Bool { contains(bytes, 57, smallOnEd448) }

    /// Compares y, without the sign of x, which is the highest bit.
    private static func contains(_ bytes: [UInt8], _ size: Int, _ list: [[UInt8]]) -> Bool {
        guard bytes.count == size, let last = bytes.last else { return false }
        return list.contains(bytes.dropLast() + [last & 0x7F])
    }

    /// y = 0, 1, the two of order 8, and -1. A number that is not below p is no point.
    private static let smallOnEd25519: [[UInt8]] = [
        number([], 32), number([1], 32),
        [
            0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0, 0xD5, 0xDF,
            0xAC,
            0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
        ],
        [
            0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F, 0x2A, 0x20,
            0x53,
            0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
        ],
        [0xEC] + [UInt8](repeating: 0xFF, count: 30) + [0x7F],
    ]

    /// y = 0, 1 and -1.
    private static let smallOnEd448: [[UInt8]] = [
        number([], 57), number([1], 57),
        [0xFE] + [UInt8](repeating: 0xFF, count: 27) + [0xFE] + [UInt8](repeating: 0xFF, count: 27) + [0],
    ]

    private static func number(_ digits: [UInt8], _ size: Int) -> [UInt8] {
        digits + [UInt8](repeating: 0, count: size - digits.count)
    }
}
