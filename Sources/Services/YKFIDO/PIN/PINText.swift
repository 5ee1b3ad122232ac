// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// A PIN in the form that is sent: UTF-8 of Unicode normalisation form C (CTAP 2.2 §6.5.1), so that the same PIN typed
/// on another machine is the same.
public struct PINText: ~Copyable, Sendable {
    /// The bytes.
    public let bytes: Secret
    /// How many Unicode code points there are, after normalisation: what the shortest length counts.
    public let codePoints: Int

    /// The longest PIN, in bytes (CTAP 2.2 §6.5.1).
    public static let byteLimit = 63
    /// What the shortest PIN has at least, in bytes (CTAP 2.2 §6.5.1).
    static let byteMinimum = 4

    /// Takes a PIN that was typed as UTF-8. Bytes that are not UTF-8 are taken as they are, each a code point.
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

    /// The first 16 bytes of its SHA-256: what proves knowledge of it.
    package borrowing func hash() -> [UInt8] {
        var whole = bytes.copyBytes()
        defer { Secret.wipe(&whole) }
        return Array(HashAlgorithm.sha256.hash(whole).prefix(16))
    }

    /// Filled up with zeros to 64 bytes, as a new PIN is sent.
    package borrowing func padded() -> [UInt8] {
        var whole = bytes.copyBytes()
        defer { Secret.wipe(&whole) }
        return whole + [UInt8](repeating: 0, count: max(0, 64 - whole.count))
    }

    /// Why it cannot be a new PIN of a key with these limits; `nil` when it can.
    public borrowing func problem(minimum: UInt64, maximum: UInt64) -> PINProblem? {
        if bytes.withBytes({ $0.last == 0 }) { return .endsWithZero }
        if codePoints < Int(clamping: minimum) { return .tooShort(codePoints: codePoints, minimum: minimum) }
        let limit = min(UInt64(Self.byteLimit), maximum)
        return bytes.count > Int(clamping: limit) ? .tooLong(bytes: bytes.count, maximum: limit) : nil
    }
}

/// Why a text cannot be a new PIN.
public enum PINProblem: Hashable, Sendable {
    /// It has fewer code points than the key wants.
    case tooShort(codePoints: Int, minimum: UInt64)
    /// It has more bytes of UTF-8 than the key takes.
    case tooLong(bytes: Int, maximum: UInt64)
    /// Its last byte is zero, which cannot be told from the filling.
    case endsWithZero
}
