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

    /// Maximum length of an HMAC key, in bytes.
    static let hmacKeySize = 20
    /// Maximum number of scan codes.
    public static let scanCodeLimit = 38

    /// The slot's configuration record. It contains the key: wipe it.
    func record(_ settings: OTPSettings, accessCode: [UInt8]) throws(OTPError) -> [UInt8] {
        var parts = try parts
        defer { parts.wipe() }
        let record = try lift({ OTPError.invalid(.format($0)) }) { () throws(WireError) in
            try OTPSlotRecord(
                fixed: parts.fixed, identity: parts.identity, key: parts.key, accessCode: accessCode,
                extended: settings.extended, ticket: settings.ticket.union(parts.ticket),
                configuration: settings.configuration.union(parts.configuration))
        }
        return record.encoded
    }

    private struct Parts {
        var fixed: [UInt8] = []
        var identity: [UInt8]
        var key: [UInt8]
        var ticket: OTPTicketFlags = []
        var configuration: OTPConfigurationFlags = []

        mutating func wipe() {
            Secret.wipe(&fixed)
            Secret.wipe(&identity)
            Secret.wipe(&key)
        }
    }

    private var parts: Parts {
        get throws(OTPError) {
            switch self {
            case .yubicoOTP(let fixed, let privateID, let key):
                return try Self.block(fixed, privateID, key)
            case .staticTicket(let fixed, let privateID, let key, let style):
                var parts = try Self.block(fixed, privateID, key)
                parts.configuration = [.staticTicket, OTPConfigurationFlags(rawValue: style.rawValue)]
                return parts
            case .staticPassword(let codes): return try Self.password(codes)
            case .hmac(let key, let needsTouch, let takesShort):
                var parts = try Self.split(key)
                parts.ticket = .challengeResponse
                parts.configuration = .challengeHMAC
                if takesShort { parts.configuration.insert(.shortChallenge) }
                if needsTouch { parts.configuration.insert(.challengeTouch) }
                return parts
            case .challengeOTP(let key, let needsTouch):
                var parts = try Self.block([], SharedSecret(Secret([UInt8](repeating: 0, count: 6))), key)
                parts.ticket = .challengeResponse
                parts.configuration = needsTouch ? [.challengeOTP, .challengeTouch] : .challengeOTP
                return parts
            case .hotp(let key, let form): return try Self.hotp(key, form)
            }
        }
    }

    private static func block(
        _ fixed: [UInt8], _ privateID: SharedSecret, _ key: SharedSecret
    ) throws(OTPError) -> Parts {
        try check("public identity", 0...OTPSlotRecord.fixedSize, fixed.count)
        try check("private identity", OTPSlotRecord.identitySize...OTPSlotRecord.identitySize, privateID.value.count)
        try check("AES key", OTPSlotRecord.keySize...OTPSlotRecord.keySize, key.value.count)
        return Parts(fixed: fixed, identity: privateID.value.copyBytes(), key: key.value.copyBytes())
    }

    /// Scan codes fill fixed part, private identity and key, in this order.
    private static func password(_ codes: SharedSecret) throws(OTPError) -> Parts {
        try check("static password", 1...scanCodeLimit, codes.value.count)
        var bytes = codes.value.copyBytes()
        defer { Secret.wipe(&bytes) }
        let all = bytes + [UInt8](repeating: 0, count: scanCodeLimit - bytes.count)
        return Parts(
            fixed: Array(all[..<16]), identity: Array(all[16..<22]), key: Array(all[22...]),
            configuration: .shortTicket)
    }

    /// An HMAC key: 16 bytes in place of the AES key, four in that of the private identity.
    private static func split(_ key: SharedSecret) throws(OTPError) -> Parts {
        var bytes = key.value.copyBytes()
        defer { Secret.wipe(&bytes) }
        if bytes.count > HashAlgorithm.sha1.blockSize { bytes = HashAlgorithm.sha1.hash(bytes) }
        try check("HMAC key", 1...hmacKeySize, bytes.count)
        return Parts(identity: Array(bytes.dropFirst(16)), key: Array(bytes.prefix(16)))
    }

    private static func hotp(_ key: SharedSecret, _ form: HOTP) throws(OTPError) -> Parts {
        guard (0...0xFFFF0).contains(form.counter), form.counter % 16 == 0 else {
            throw .invalid(.counter(form.counter))
        }
        var parts = try split(key)
        let start = form.counter / 16
        let filling = [UInt8](repeating: 0, count: 4 - parts.identity.count)
        parts.identity += filling + [UInt8(start >> 8), UInt8(truncatingIfNeeded: start)]
        parts.ticket = .hotp
        if form.hasEightDigits { parts.configuration.insert(.hotp8) }
        if let identifier = form.identifier {
            parts.fixed = identifier.bytes
            parts.configuration.formUnion(identifier.flags)
        }
        return parts
    }

    private static func check(_ what: String, _ expected: ClosedRange<Int>, _ count: Int) throws(OTPError) {
        guard expected.contains(count) else { throw .invalid(.length(what, expected: expected, is: count)) }
    }
}
