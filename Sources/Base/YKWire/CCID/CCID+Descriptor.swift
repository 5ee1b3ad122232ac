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
