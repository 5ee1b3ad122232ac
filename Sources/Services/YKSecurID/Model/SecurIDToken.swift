// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

/// How a token uses its user's PIN.
public enum SecurIDTokenType: String, Hashable, Sendable, CaseIterable {
    /// The PIN is added to the code digit by digit, without carry.
    case pinpad
    /// The PIN stands before the code.
    case keyfob
    /// There is no PIN.
    case pinless
}

/// A SecurID software token of 128 bits: what a tokencode is computed from, and what the issuer wrote beside it.
public struct SecurIDToken: Sendable {
    /// The serial number, 12 decimal digits.
    public var serial: String
    /// The seed, 16 bytes: an AES-128 key.
    public var seed: SharedSecret
    /// Digits of a code: 1 to 8, 6 or 8 in practice.
    public var digits: Int
    /// How long a code is valid, in seconds: 30 or 60.
    public var interval: Int
    /// How the PIN is used.
    public var type: SecurIDTokenType
    /// The day on which the token expires, at 00:00 UTC; `nil` when it does not expire.
    public var expiry: UTCDate?
    /// The name for people.
    public var nickname: String?
    /// The user it was issued to.
    public var user: String?
    /// The device identifier that an SDTID file or a protected string names.
    public var deviceID: String?

    /// Creates a token. Throws `field` for a value outside its range.
    public init(
        serial: String, seed: SharedSecret, digits: Int, interval: Int, type: SecurIDTokenType, expiry: UTCDate?,
        nickname: String? = nil, user: String? = nil, deviceID: String? = nil
    ) throws(SecurIDError) {
        guard serial.utf8.count == 12, serial.utf8.allSatisfy(\.isDecimalDigit) else { throw .field("serial number") }
        guard seed.value.count == SecurIDToken.seedSize else { throw .field("seed") }
        guard (1...8).contains(digits) else { throw .field("digits") }
        guard interval == 30 || interval == 60 else { throw .field("interval") }
        self.serial = serial
        self.seed = seed
        self.digits = digits
        self.interval = interval
        self.type = type
        self.expiry = expiry
        self.nickname = nickname
        self.user = user
        self.deviceID = deviceID
    }

    /// A serial number of fewer than 12 digits, as files of hardware tokens have it, with zeros in front.
    static func serial(padding text: String) -> String {
        String(repeating: "0", count: max(0, 12 - text.utf8.count)) + text
    }

    /// Bytes of a seed.
    public static let seedSize = 16

    /// Whether the token has expired at a time, in seconds since 1970: it ends with the first second of its last day.
    public func isExpired(at time: Int64) -> Bool { expiry.map { time >= $0.seconds } ?? false }
}

/// The limits that RSA's SDK sets.
public enum SecurIDLimits {
    /// Characters of a URL.
    public static let url = 1024
    /// Characters of an activation code, letters and digits.
    public static let activationCode = 40
    /// Bytes of a file password: the SDK takes 24, other tools 40.
    public static let password = 40
    /// Characters of a nickname.
    public static let nickname = 32
    /// Tokens in a database.
    public static let tokens = 10
}

extension UInt8 {
    var isDecimalDigit: Bool { (0x30...0x39).contains(self) }
    var isHexDigit: Bool { isDecimalDigit || (0x41...0x46).contains(self) || (0x61...0x66).contains(self) }
    var isBase64: Bool { isLetterOrDigit || self == 0x2B || self == 0x2F || self == 0x2D || self == 0x5F }
    var isLetterOrDigit: Bool { isDecimalDigit || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }
}

extension [UInt8] {
    /// Cut, or filled with zeros, to a length.
    func fitted(_ count: Int) -> [UInt8] {
        Array(prefix(count)) + [UInt8](repeating: 0, count: Swift.max(0, count - self.count))
    }
}
