// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

/// How a token uses its user's PIN.
public enum SecurIDTokenType: String, Hashable, Sendable, CaseIterable {
    /// The PIN is added to the code digit by digit, without carry.
    case pinpad
    /// The PIN precedes the code.
    case keyfob
    /// The token has no PIN.
    case pinless
}

/// A 128-bit SecurID software token: the parameters of its tokencodes and the issuer's metadata.
public struct SecurIDToken: Sendable {
    /// The serial number, 12 decimal digits.
    public var serial: String
    /// The seed, 16 bytes: an AES-128 key.
    public var seed: SharedSecret
    /// The number of digits in a code: 1 to 8, in practice 6 or 8.
    public var digits: Int
    /// The validity period of a code: 30 or 60 seconds.
    public var interval: Duration
    /// How the PIN is used.
    public var type: SecurIDTokenType
    /// The day on which the token expires, at 00:00 UTC; `nil` if it does not expire.
    public var expiry: UTCDate?
    /// The display name.
    public var nickname: String?
    /// The user to whom the token was issued.
    public var user: String?
    /// The device identifier named in an SDTID file or a protected string.
    public var deviceID: String?

    /// Creates a token.
    ///
    /// - Throws: `field` for a value outside its range.
    public init(
        serial: String, seed: SharedSecret, digits: Int, interval: Duration, type: SecurIDTokenType, expiry: UTCDate?,
        nickname: String? = nil, user: String? = nil, deviceID: String? = nil
    ) throws(SecurIDError) {
        guard serial.utf8.count == 12, serial.utf8.allSatisfy(\.isDecimalDigit) else { throw .field("serial number") }
        guard seed.value.count == SecurIDToken.seedSize else { throw .field("seed") }
        guard (1...8).contains(digits) else { throw .field("digits") }
        guard interval == .seconds(30) || interval == .seconds(60) else { throw .field("interval") }
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

    /// Pads a serial number to 12 digits with leading zeros; files of hardware tokens have shorter ones.
    package static func serial(padding text: String) -> String {
        String(repeating: "0", count: max(0, 12 - text.utf8.count)) + text
    }

    /// The length of a seed in bytes.
    public static let seedSize = 16

    /// Whether the token has expired at a time, in seconds since 1970. It expires when its last day begins.
    public func isExpired(at time: Int64) -> Bool { expiry.map { time >= $0.seconds } ?? false }
}

/// The limits set by RSA's SDK.
public enum SecurIDLimits {
    /// Maximum length of a URL in characters.
    public static let url = 1024
    /// Maximum length of an activation code in letters and digits.
    public static let activationCode = 40
    /// Maximum length of a file password in bytes: the SDK accepts 24, other tools 40.
    public static let password = 40
    /// Maximum length of a nickname in characters.
    public static let nickname = 32
    /// Maximum number of tokens in a database.
    public static let tokens = 10
}

extension UInt8 {
    var isDecimalDigit: Bool { (0x30...0x39).contains(self) }
    var isHexDigit: Bool { isDecimalDigit || (0x41...0x46).contains(self) || (0x61...0x66).contains(self) }
    var isBase64: Bool { isLetterOrDigit || self == 0x2B || self == 0x2F || self == 0x2D || self == 0x5F }
    var isLetterOrDigit: Bool { isDecimalDigit || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }
}

extension [UInt8] {
    /// Returns the bytes truncated, or padded with zeros, to a length.
    func fitted(_ count: Int) -> [UInt8] {
        Array(prefix(count)) + [UInt8](repeating: 0, count: Swift.max(0, count - self.count))
    }
}
