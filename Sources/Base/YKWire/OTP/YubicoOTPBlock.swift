// SPDX-License-Identifier: Apache-2.0

/// What a Yubico one-time password says once it is decrypted: 16 bytes, numbers with the least significant byte first.
public struct YubicoOTPBlock: Hashable, Sendable {
    /// The private identity, six bytes.
    public var privateID: [UInt8]
    /// How often the key got power and was used, 15 bits; the highest bit says that Caps Lock was on (firmware 1).
    public var useCounter: UInt16
    /// The time since power-up in eighths of a second, 24 bits, from a random start.
    public var timestamp: UInt32
    /// How many passwords were made since power-up.
    public var sessionUse: UInt8
    /// Random bits.
    public var random: UInt16

    /// Makes a block; of the identity six bytes count, of the time 24 bits.
    public init(privateID: [UInt8], useCounter: UInt16, timestamp: UInt32, sessionUse: UInt8, random: UInt16) {
        self.privateID = Array((privateID + [UInt8](repeating: 0, count: 6)).prefix(6))
        self.useCounter = useCounter
        self.timestamp = timestamp & 0xFF_FFFF
        self.sessionUse = sessionUse
        self.random = random
    }

    /// Reads 16 decrypted bytes; a wrong CRC, and so a wrong key, throws `malformed`.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        guard bytes.count == YubicoOTP.blockSize else {
            throw WireError(.malformed, at: 0, "the block has 16 bytes, not \(bytes.count)")
        }
        guard CRC16.isValid(bytes) else { throw WireError(.malformed, at: 14, "the CRC of the block is wrong") }
        var reader = ByteReader(bytes)
        privateID = try reader.bytes(6)
        useCounter = UInt16(truncatingIfNeeded: try reader.littleEndian(2))
        timestamp = UInt32(truncatingIfNeeded: try reader.littleEndian(3))
        sessionUse = try reader.byte()
        random = UInt16(truncatingIfNeeded: try reader.littleEndian(2))
    }

    /// The 16 bytes that are encrypted.
    public var encoded: [UInt8] {
        var writer = ByteWriter(capacity: YubicoOTP.blockSize)
        writer.append(privateID)
        writer.littleEndian(UInt64(useCounter), 2)
        writer.littleEndian(UInt64(timestamp), 3)
        writer.byte(sessionUse)
        writer.littleEndian(UInt64(random), 2)
        writer.append(CRC16.trailer(writer.bytes))
        return writer.bytes
    }

    /// Where the key is in its life: grows with every password.
    public var counter: OTPCounter { OTPCounter(use: useCounter & 0x7FFF, session: sessionUse) }
}

/// How many passwords a key has made: first by power-ups, then within one.
public struct OTPCounter: Hashable, Sendable, Comparable {
    /// How often the key got power and was used.
    public var use: UInt16
    /// How many passwords it made since.
    public var session: UInt8

    /// Makes a counter.
    public init(use: UInt16, session: UInt8) {
        self.use = use
        self.session = session
    }

    /// Whether the first one came earlier.
    public static func < (left: Self, right: Self) -> Bool { (left.use, left.session) < (right.use, right.session) }
}
