// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// A PIN as it is sent: UTF-8 in Unicode normalization form C (CTAP 2.2 §6.5.1), so that the same PIN typed on another
/// computer yields the same bytes.
public struct PINText: ~Copyable, Sendable {
    /// The bytes.
    public let bytes: Secret
    /// The number of Unicode code points after normalization, to which the minimum length applies.
    public let codePoints: Int

    /// Maximum PIN length, in bytes (CTAP 2.2 §6.5.1).
    public static let byteLimit = 63
    /// Minimum PIN length, in bytes (CTAP 2.2 §6.5.1).
    static let byteMinimum = 4

    /// Creates a PIN from typed UTF-8. Invalid UTF-8 is used unchanged, each byte as a code point.
    public init(_ typed: borrowing Secret) {
        let text = typed.withBytes { String(validating: $0, as: UTF8.self) }
        guard let text else {
            bytes = typed.copy()
            codePoints = typed.count
            return
        }
        var normal: [UInt8] = []
        normal.reserveCapacity(4 * typed.count)
        text._withNFCCodeUnits { normal.append($0) }
        defer { Secret.wipe(&normal) }
        codePoints = normal.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
        bytes = Secret(normal)
    }

    /// The first 16 bytes of its SHA-256, which prove knowledge of it.
    package borrowing func hash() -> [UInt8] {
        var whole = bytes.copyBytes()
        defer { Secret.wipe(&whole) }
        return Array(HashAlgorithm.sha256.hash(whole).prefix(16))
    }

    /// The PIN padded with zeros to 64 bytes, as a new PIN is sent.
    package borrowing func padded() -> [UInt8] {
        var whole = bytes.copyBytes()
        defer { Secret.wipe(&whole) }
        return whole + [UInt8](repeating: 0, count: max(0, 64 - whole.count))
    }

    /// Returns why this is invalid as a new PIN for a key with these limits; `nil` if it is valid.
    public borrowing func problem(minimum: UInt64, maximum: UInt64) -> PINProblem? {
        if bytes.withBytes({ $0.last == 0 }) { return .endsWithZero }
        if codePoints < Int(clamping: minimum) { return .tooShort(codePoints: codePoints, minimum: minimum) }
        let limit = min(UInt64(Self.byteLimit), maximum)
        return bytes.count > Int(clamping: limit) ? .tooLong(bytes: bytes.count, maximum: limit) : nil
    }
}

/// Why a string is invalid as a new PIN.
public enum PINProblem: Hashable, Sendable {
    /// It has fewer code points than the key requires.
    case tooShort(codePoints: Int, minimum: UInt64)
    /// It has more bytes of UTF-8 than the key accepts.
    case tooLong(bytes: Int, maximum: UInt64)
    /// Its last byte is zero, which is indistinguishable from the padding.
    case endsWithZero
}
