// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Whether an account is time-based or counter-based.
public struct OATHType: OpenSet {
    /// The high four bits of the type and algorithm byte (YKOATH, "LIST").
    public let rawValue: UInt8

    /// Wraps a value; the low four bits are dropped.
    public init(rawValue: UInt8) { self.rawValue = rawValue & 0xF0 }

    /// Counter-based codes (RFC 4226).
    public static let hotp = OATHType(rawValue: 0x10)
    /// Time-based codes (RFC 6238).
    public static let totp = OATHType(rawValue: 0x20)

    /// `HOTP` or `TOTP`; the number for others.
    public var description: String {
        switch self {
        case .hotp: "HOTP"
        case .totp: "TOTP"
        default: "type \(rawValue >> 4)"
        }
    }
}
