// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire

/// What a slot generates when it is touched or challenged.
public enum OTPSlotContent: Sendable {
    /// A Yubico OTP: the public identity of up to 16 bytes, then a block encrypted with the AES key, which contains the
    /// private identity of six bytes.
    case yubicoOTP(publicID: [UInt8], privateID: SharedSecret, key: SharedSecret)
    /// A password: up to 38 scan codes.
    case staticPassword(scanCodes: SharedSecret)
    /// A block that does not change, typed as a password.
    case staticTicket(fixed: [UInt8], privateID: SharedSecret, key: SharedSecret, StaticTicket)
    /// The HMAC-SHA-1 of a challenge (RFC 2104), with a key of up to 20 bytes; one longer than 64 bytes is hashed.
    case hmac(key: SharedSecret, needsTouch: Bool, takesShortChallenges: Bool = true)
    /// A Yubico OTP block with the challenge in place of the private identity.
    case challengeOTP(key: SharedSecret, needsTouch: Bool)
    /// HOTP (RFC 4226) with a key of up to 20 bytes.
    case hotp(key: SharedSecret, HOTP)

    /// The format of a static ticket.
    public struct StaticTicket: OptionSet, Sendable, Hashable {
        /// The flags on the wire.
        public let rawValue: UInt8
        /// Wraps flags.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Half as long.
        public static let short = StaticTicket(rawValue: OTPConfigurationFlags.shortTicket.rawValue)
        /// Some letters in upper case.
        public static let upperCase = StaticTicket(rawValue: OTPConfigurationFlags.strongPassword1.rawValue)
        /// Some digits.
        public static let digits = StaticTicket(rawValue: OTPConfigurationFlags.strongPassword2.rawValue)
        /// An exclamation mark first.
        public static let special = StaticTicket(rawValue: OTPConfigurationFlags.sendReference.rawValue)
        /// A long press generates a new one.
        public static let manualUpdate = StaticTicket(rawValue: OTPConfigurationFlags.manualUpdate.rawValue)
    }

    /// The HOTP parameters.
    public struct HOTP: Sendable, Hashable {
        /// Whether a code has eight digits rather than six.
        public var hasEightDigits = false
        /// The initial counter: a multiple of 16 up to 1048560.
        public var counter = 0
        /// The token identifier typed before each code.
        public var identifier: OTPTokenIdentifier?

        /// Six digits, from 0, without an identifier.
        public init() {}
    }

    /// The firmware feature that it requires.
    var feature: OTPFeature? {
        switch self {
        case .yubicoOTP, .staticTicket: nil
        case .staticPassword: .staticPassword
        case .hmac, .challengeOTP: .challengeResponse
        case .hotp: .hotp
        }
    }

    /// Whether the slot types.
    public var isTyped: Bool { feature != .challengeResponse }
}
