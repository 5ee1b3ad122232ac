// SPDX-License-Identifier: Apache-2.0

/// The 52-byte configuration record of a slot.
public struct OTPSlotRecord: Hashable, Sendable {
    /// The prefix of a token: up to 16 bytes.
    public let fixed: [UInt8]
    /// The private identity, six bytes; for HMAC and HOTP bytes 17 to 20 of the key, for HOTP followed by the counter's
    /// initial value.
    public let identity: [UInt8]
    /// The AES key, or the first 16 bytes of an HMAC key.
    public let key: [UInt8]
    /// The new access code of the slot, six bytes; zeros for none.
    public let accessCode: [UInt8]
    /// Other settings of the slot.
    public var extended: OTPExtendedFlags
    /// How the slot types.
    public var ticket: OTPTicketFlags
    /// What the slot generates.
    public var configuration: OTPConfigurationFlags

    /// The size in bytes.
    public static let size = 52
    /// The longest fixed part, in bytes.
    public static let fixedSize = 16
    /// The size of the private identity, in bytes.
    public static let identitySize = 6
    /// The size of the key, in bytes.
    public static let keySize = 16
    /// The size of an access code, in bytes.
    public static let accessCodeSize = 6
    /// The value for no access code.
    public static let noAccessCode = [UInt8](repeating: 0, count: accessCodeSize)
    /// The record that clears a slot: no configuration, and no CRC.
    public static let empty = [UInt8](repeating: 0, count: size)

    /// Creates a record; short parts are padded with zeros.
    ///
    /// - Throws: `tooLarge` for parts that are too long.
    public init(
        fixed: [UInt8] = [], identity: [UInt8] = [], key: [UInt8] = [], accessCode: [UInt8] = [],
        extended: OTPExtendedFlags = [], ticket: OTPTicketFlags = [], configuration: OTPConfigurationFlags = []
    ) throws(WireError) {
        guard fixed.count <= Self.fixedSize else {
            throw WireError(.tooLarge, at: Self.fixedSize, "a fixed part of \(fixed.count) bytes, 16 fit")
        }
        self.fixed = fixed
        self.identity = try Self.filled(identity, Self.identitySize, "private identity")
        self.key = try Self.filled(key, Self.keySize, "key")
        self.accessCode = try Self.filled(accessCode, Self.accessCodeSize, "access code")
        self.extended = extended
        self.ticket = ticket
        self.configuration = configuration
    }

    /// Decodes a record.
    ///
    /// - Throws: `malformed` for a wrong CRC or a fixed part of more than 16 bytes.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        let fixed = try reader.bytes(Self.fixedSize, "the fixed part")
        identity = try reader.bytes(Self.identitySize, "the private identity")
        key = try reader.bytes(Self.keySize, "the key")
        accessCode = try reader.bytes(Self.accessCodeSize, "the access code")
        let length = Int(try reader.byte("the length of the fixed part"))
        extended = OTPExtendedFlags(rawValue: try reader.byte("extended flags"))
        ticket = OTPTicketFlags(rawValue: try reader.byte("ticket flags"))
        configuration = OTPConfigurationFlags(rawValue: try reader.byte("configuration flags"))
        _ = try reader.bytes(2, "reserved bytes")
        _ = try reader.bytes(2, "the CRC")
        try reader.finish("a slot configuration")
        guard length <= Self.fixedSize else {
            throw WireError(.malformed, at: 44, "a fixed part of \(length) bytes, 16 fit")
        }
        guard CRC16.isValid(bytes) else {
            throw WireError(.malformed, at: 50, "the CRC of a slot configuration is wrong")
        }
        self.fixed = Array(fixed.prefix(length))
    }

    /// The 52 bytes.
    public var encoded: [UInt8] {
        let filling = [UInt8](repeating: 0, count: Self.fixedSize - fixed.count)
        let flags = [extended.rawValue, ticket.rawValue, configuration.rawValue]
        let bytes = fixed + filling + identity + key + accessCode + [UInt8(fixed.count)] + flags + [0, 0]
        return bytes + CRC16.trailer(bytes)
    }

    private static func filled(_ bytes: [UInt8], _ size: Int, _ what: String) throws(WireError) -> [UInt8] {
        guard bytes.count <= size else {
            throw WireError(.tooLarge, at: size, "\(what) of \(bytes.count) bytes, \(size) fit")
        }
        return bytes + [UInt8](repeating: 0, count: size - bytes.count)
    }
}

/// How a slot types: the first byte of flags of a configuration (Yubico "ticket flags").
public struct OTPTicketFlags: OptionSet, Hashable, Sendable {
    /// The byte on the wire.
    public let rawValue: UInt8
    /// Wraps a byte.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A tab before the first part.
    public static let tabFirst = OTPTicketFlags(rawValue: 0x01)
    /// A tab after the first part.
    public static let tabAfterFirst = OTPTicketFlags(rawValue: 0x02)
    /// A tab after the second part.
    public static let tabAfterSecond = OTPTicketFlags(rawValue: 0x04)
    /// A delay of half a second after the first part.
    public static let delayAfterFirst = OTPTicketFlags(rawValue: 0x08)
    /// A delay of half a second after the second part.
    public static let delayAfterSecond = OTPTicketFlags(rawValue: 0x10)
    /// Enter at the end.
    public static let enter = OTPTicketFlags(rawValue: 0x20)
    /// OATH HOTP instead of a Yubico OTP (firmware 2.1).
    public static let hotp = OTPTicketFlags(rawValue: 0x40)
    /// Challenge-response instead of typing, in combination with a flag of ``OTPConfigurationFlags`` (firmware 2.2).
    public static let challengeResponse = OTPTicketFlags(rawValue: 0x40)
    /// Slot 2 cannot be written unless it is in use and has this flag itself.
    public static let protectsSlot2 = OTPTicketFlags(rawValue: 0x80)
    /// The flags that an update may change.
    public static let updatable = OTPTicketFlags(rawValue: 0x3F)
}

/// What a slot generates: the second byte of flags of a configuration. Some bits have several meanings, depending on
/// the kind of slot.
public struct OTPConfigurationFlags: OptionSet, Hashable, Sendable {
    /// The byte on the wire.
    public let rawValue: UInt8
    /// Wraps a byte.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The letters 0 to F before the token; with a strong password, an exclamation mark.
    public static let sendReference = OTPConfigurationFlags(rawValue: 0x01)
    /// Ten milliseconds of extra time between keystrokes.
    public static let pacing10 = OTPConfigurationFlags(rawValue: 0x04)
    /// Twenty milliseconds of extra time between keystrokes.
    public static let pacing20 = OTPConfigurationFlags(rawValue: 0x08)
    /// The token is constant: a static password derived from the key.
    public static let staticTicket = OTPConfigurationFlags(rawValue: 0x20)
    /// Half the token; alone, the fixed part, the private identity and the key are scan codes.
    public static let shortTicket = OTPConfigurationFlags(rawValue: 0x02)
    /// Upper and lower case in a static token.
    public static let strongPassword1 = OTPConfigurationFlags(rawValue: 0x10)
    /// Digits in a static token.
    public static let strongPassword2 = OTPConfigurationFlags(rawValue: 0x40)
    /// A long press makes a new static token.
    public static let manualUpdate = OTPConfigurationFlags(rawValue: 0x80)
    /// HOTP with eight digits instead of six.
    public static let hotp8 = OTPConfigurationFlags(rawValue: 0x02)
    /// The first byte of HOTP's token identifier in modhex.
    public static let fixedModhex1 = OTPConfigurationFlags(rawValue: 0x10)
    /// The first two bytes of HOTP's token identifier in modhex; with ``fixedModhex1``, all of it.
    public static let fixedModhex2 = OTPConfigurationFlags(rawValue: 0x40)
    /// Challenge-response with Yubico OTP.
    public static let challengeOTP = OTPConfigurationFlags(rawValue: 0x20)
    /// Challenge-response with HMAC-SHA-1.
    public static let challengeHMAC = OTPConfigurationFlags(rawValue: 0x22)
    /// The padding of a challenge of less than 64 bytes is ignored.
    public static let shortChallenge = OTPConfigurationFlags(rawValue: 0x04)
    /// Challenge-response requires a touch.
    public static let challengeTouch = OTPConfigurationFlags(rawValue: 0x08)
    /// The flags that an update may change.
    public static let updatable = OTPConfigurationFlags(rawValue: 0x0C)
}

/// Other settings of a slot: the third byte of flags of a configuration (Yubico "extended flags").
public struct OTPExtendedFlags: OptionSet, Hashable, Sendable {
    /// The byte on the wire.
    public let rawValue: UInt8
    /// Wraps a byte.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The key types its serial number when it is touched while it is plugged in.
    public static let serialAtStart = OTPExtendedFlags(rawValue: 0x01)
    /// The serial number is in the USB descriptor.
    public static let serialInUSB = OTPExtendedFlags(rawValue: 0x02)
    /// Programs may read the serial number.
    public static let serialByCommand = OTPExtendedFlags(rawValue: 0x04)
    /// Digits are typed on the numeric keypad (firmware 2.3).
    public static let numericKeypad = OTPExtendedFlags(rawValue: 0x08)
    /// A short touch is enough when only slot 1 is in use (firmware 2.3).
    public static let fastTrigger = OTPExtendedFlags(rawValue: 0x10)
    /// The settings may be updated without rewriting the slot (firmware 2.3).
    public static let allowsUpdate = OTPExtendedFlags(rawValue: 0x20)
    /// The slot is inactive until an update activates it (firmware 2.3).
    public static let dormant = OTPExtendedFlags(rawValue: 0x40)
    /// The light is on in use instead of when idle (firmware 2.4).
    public static let invertedLight = OTPExtendedFlags(rawValue: 0x80)
}
