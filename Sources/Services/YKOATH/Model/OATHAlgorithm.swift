// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

/// The hash function of an account's HMAC.
public struct OATHAlgorithm: OpenSet {
    /// The low four bits of the type and algorithm byte (YKOATH, "LIST").
    public let rawValue: UInt8

    /// Wraps a value; the high four bits are dropped.
    public init(rawValue: UInt8) { self.rawValue = rawValue & 0x0F }

    /// HMAC-SHA-1, the default.
    public static let sha1 = OATHAlgorithm(rawValue: 1)
    /// HMAC-SHA-256.
    public static let sha256 = OATHAlgorithm(rawValue: 2)
    /// HMAC-SHA-512; YubiKeys support it from firmware 4.3.1.
    public static let sha512 = OATHAlgorithm(rawValue: 3)

    /// The known algorithms.
    public static let known: [OATHAlgorithm] = [.sha1, .sha256, .sha512]

    /// Parses `SHA1`, `sha-256`, `HmacSHA512`, `Algorithm.sha1` (Ente Auth 4.1) and so on; `nil` for an unknown name.
    public init?(name: some StringProtocol) {
        let word = name.uppercased()
        let wanted = word.dropFirst(word.hasPrefix("ALGORITHM.") ? 10 : 0).filter { $0 != "-" && $0 != "_" }
        guard let found = Self.known.first(where: { $0.description == wanted || "HMAC\($0)" == wanted }) else {
            return nil
        }
        self = found
    }

    /// The hash function; `nil` for an unknown value.
    public var hash: HashAlgorithm? {
        switch self {
        case .sha1: .sha1
        case .sha256: .sha256
        case .sha512: .sha512
        default: nil
        }
    }

    /// The name as otpauth URIs write it: `SHA1`, `SHA256`, `SHA512`; the number for others.
    public var description: String {
        switch self {
        case .sha1: "SHA1"
        case .sha256: "SHA256"
        case .sha512: "SHA512"
        default: "algorithm \(rawValue)"
        }
    }
}

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
