// SPDX-License-Identifier: Apache-2.0

extension CCID {
    /// The class descriptor of a reader's interface, which lists its capabilities (CCID 1.1 §5.1).
    public struct Descriptor: Hashable, Sendable {
        /// What the reader does automatically. An open set.
        public struct Features: OptionSet, Hashable, Sendable {
            /// The bits.
            public let rawValue: UInt32
            /// Wraps bits.
            public init(rawValue: UInt32) { self.rawValue = rawValue }
            /// Sets the parameters from the answer to reset.
            public static let parametersByATR = Features(rawValue: 0x02)
            /// Activates a card on insertion.
            public static let activation = Features(rawValue: 0x04)
            /// Selects the voltage.
            public static let voltage = Features(rawValue: 0x08)
            /// Changes the clock frequency.
            public static let clock = Features(rawValue: 0x10)
            /// Changes the data rate.
            public static let speed = Features(rawValue: 0x20)
            /// Negotiates the parameters in a vendor-specific way.
            public static let negotiation = Features(rawValue: 0x40)
            /// Performs the protocol and parameters selection (PPS).
            public static let selection = Features(rawValue: 0x80)
            /// Negotiates the block size first (T=1).
            public static let blockSize = Features(rawValue: 0x400)
            /// Exchanges TPDUs.
            public static let tpdu = Features(rawValue: 0x1_0000)
            /// Exchanges APDUs of short length.
            public static let shortAPDU = Features(rawValue: 0x2_0000)
            /// Exchanges APDUs of short and extended length.
            public static let extendedAPDU = Features(rawValue: 0x4_0000)
        }

        /// The exchange level.
        public enum Level: Hashable, Sendable {
            /// Single characters: the host implements the protocol.
            case character
            /// Units of T=0 or T=1.
            case tpdu
            /// APDUs of short length.
            case shortAPDU
            /// APDUs of any length.
            case extendedAPDU
        }

        /// The version of the specification, binary-coded decimal: 0110 is 1.10.
        public var release: UInt16
        /// The number of the last slot; the first is 0.
        public var lastSlot: UInt8
        /// The voltages, one bit each: 01 is 5 V, 02 is 3 V, 04 is 1.8 V.
        public var voltages: UInt8
        /// The protocols, one bit each: 01 is T=0, 02 is T=1.
        public var protocols: UInt32
        /// The initial clock frequency for a card, in kHz.
        public var clock: UInt32
        /// The maximum data rate, in bits per second.
        public var maxRate: UInt32
        /// The maximum size of the information field of a T=1 block.
        public var maxBlockSize: UInt32
        /// What the reader does automatically.
        public var features: Features
        /// The maximum message length in bytes, including the header.
        public var maxMessageLength: UInt32
        /// The number of slots that can be busy at once.
        public var busySlots: UInt8

        /// Creates a descriptor.
        public init(
            release: UInt16 = 0x0110, lastSlot: UInt8 = 0, voltages: UInt8 = 1, protocols: UInt32 = 2,
            clock: UInt32 = 4000, maxRate: UInt32 = 307_200, maxBlockSize: UInt32 = 254, features: Features,
            maxMessageLength: UInt32 = 3072, busySlots: UInt8 = 1
        ) {
            self.release = release
            self.lastSlot = lastSlot
            self.voltages = voltages
            self.protocols = protocols
            self.clock = clock
            self.maxRate = maxRate
            self.maxBlockSize = maxBlockSize
            self.features = features
            self.maxMessageLength = maxMessageLength
            self.busySlots = busySlots
        }

        /// The exchange level; the highest one when several are claimed.
        public var level: Level {
            if features.contains(.extendedAPDU) { return .extendedAPDU }
            if features.contains(.shortAPDU) { return .shortAPDU }
            return features.contains(.tpdu) ? .tpdu : .character
        }

        /// The maximum data length of one message, in bytes. An implausible length is treated as that of a short APDU
        /// and its header, the minimum for a reader (271 bytes, §5.1).
        public var maxDataLength: Int {
            let length = Int(clamping: maxMessageLength) - CCID.headerSize
            return min(max(length, 261), CCID.dataLimit)
        }

        /// The voltages to try in order, lowest first (ISO 7816-3 §6.2.2).
        public var powerChoices: [Voltage] {
            if features.contains(.voltage) { return [.automatic] }
            let found: [(UInt8, Voltage)] = [(4, .oneEight), (2, .three), (1, .five)]
            let choices = found.filter { voltages & $0.0 != 0 }.map(\.1)
            return choices.isEmpty ? [.automatic] : choices
        }
    }
}

extension CCID.Descriptor {
    /// The size of the descriptor, in bytes.
    public static let size = 54
    /// The descriptor's type; some early readers use FF.
    public static let types: Set<UInt8> = [0x21, 0xFF]

    /// Decodes a class descriptor; excess bytes are ignored.
    ///
    /// - Throws: `WireError` for a descriptor that is too short or of the wrong type.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        let length = try reader.byte("the length")
        guard length >= Self.size else {
            throw WireError(.truncated, at: 0, "a descriptor of \(length) bytes, expected \(Self.size)")
        }
        let type = try reader.byte("the type")
        guard Self.types.contains(type) else {
            throw WireError(.malformed, at: 1, "a descriptor of type \(Hex.encode([type])), expected 21")
        }
        release = UInt16(truncatingIfNeeded: try reader.littleEndian(2, "the release"))
        lastSlot = try reader.byte("the last slot")
        voltages = try reader.byte("the voltages")
        protocols = UInt32(truncatingIfNeeded: try reader.littleEndian(4, "the protocols"))
        clock = UInt32(truncatingIfNeeded: try reader.littleEndian(4, "the clock"))
        _ = try reader.bytes(9, "the highest clock, how many there are, and the lowest rate")
        maxRate = UInt32(truncatingIfNeeded: try reader.littleEndian(4, "the highest rate"))
        _ = try reader.byte("how many rates there are")
        maxBlockSize = UInt32(truncatingIfNeeded: try reader.littleEndian(4, "the size of blocks"))
        _ = try reader.bytes(8, "synchronous protocols and mechanics")
        features = Features(rawValue: UInt32(truncatingIfNeeded: try reader.littleEndian(4, "the features")))
        maxMessageLength = UInt32(truncatingIfNeeded: try reader.littleEndian(4, "the length of messages"))
        _ = try reader.bytes(5, "classes, display and PIN")
        busySlots = try reader.byte("the busy slots")
    }

    /// The encoded descriptor: one clock, one rate, classes echoed.
    public var encoded: [UInt8] {
        var writer = ByteWriter(capacity: Self.size)
        writer.append([UInt8(Self.size), 0x21])
        writer.littleEndian(UInt64(release), 2)
        writer.append([lastSlot, voltages])
        writer.littleEndian(UInt64(protocols), 4)
        for _ in 0..<2 { writer.littleEndian(UInt64(clock), 4) }
        writer.byte(0)
        for _ in 0..<2 { writer.littleEndian(UInt64(maxRate), 4) }
        writer.byte(0)
        writer.littleEndian(UInt64(maxBlockSize), 4)
        writer.littleEndian(0, 8)
        writer.littleEndian(UInt64(features.rawValue), 4)
        writer.littleEndian(UInt64(maxMessageLength), 4)
        writer.append([0xFF, 0xFF, 0, 0, 0, busySlots])
        return writer.bytes
    }
}
