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
