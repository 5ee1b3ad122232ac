// SPDX-License-Identifier: Apache-2.0

extension CCID {
    /// A message to a reader, `PC_to_RDR_…` (CCID 1.1 §6.1).
    public struct Command: Hashable, Sendable {
        /// The message type.
        public struct Kind: OpenSet {
            /// The first byte of the message.
            public let rawValue: UInt8
            /// Wraps a byte.
            public init(rawValue: UInt8) { self.rawValue = rawValue }
            /// Sets the parameters of the protocol.
            public static let setParameters = Kind(rawValue: 0x61)
            /// Powers the card, or resets it.
            public static let powerOn = Kind(rawValue: 0x62)
            /// Powers the card off.
            public static let powerOff = Kind(rawValue: 0x63)
            /// Checks whether a card is present.
            public static let slotStatus = Kind(rawValue: 0x65)
            /// Reads a PIN on the reader.
            public static let secure = Kind(rawValue: 0x69)
            /// Changes how APDUs are sent over T=0.
            public static let t0APDU = Kind(rawValue: 0x6A)
            /// Sends a vendor-specific command to the reader.
            public static let escape = Kind(rawValue: 0x6B)
            /// Reads the parameters of the protocol.
            public static let getParameters = Kind(rawValue: 0x6C)
            /// Resets the parameters to their defaults.
            public static let resetParameters = Kind(rawValue: 0x6D)
            /// Stops or restarts the card's clock.
            public static let clock = Kind(rawValue: 0x6E)
            /// Sends data to the card.
            public static let transfer = Kind(rawValue: 0x6F)
            /// Moves the card mechanically.
            public static let mechanical = Kind(rawValue: 0x71)
            /// Aborts the command in a slot.
            public static let abort = Kind(rawValue: 0x72)
            /// Sets the data rate and clock frequency.
            public static let setRateAndClock = Kind(rawValue: 0x73)

            /// The expected type of reply.
            public var reply: Reply.Kind {
                switch self {
                case .powerOn, .transfer, .secure: .dataBlock
                case .setParameters, .getParameters, .resetParameters: .parameters
                case .escape: .escape
                case .setRateAndClock: .rateAndClock
                default: .slotStatus
                }
            }
        }

        /// The message type.
        public var kind: Kind
        /// The slot; the first is 0.
        public var slot: UInt8
        /// The sequence number, repeated in the reply.
        public var sequence: UInt8
        /// Byte 7: the voltage, the protocol, or the extension of the card's waiting time.
        public var choice: UInt8
        /// Bytes 8 and 9: for a transfer its position in a chain, or the number of bytes expected.
        public var level: UInt16
        /// The data after the header.
        public var data: [UInt8]

        /// Creates a message.
        public init(
            _ kind: Kind, slot: UInt8 = 0, sequence: UInt8 = 0, choice: UInt8 = 0, level: UInt16 = 0,
            data: [UInt8] = []
        ) {
            self.kind = kind
            self.slot = slot
            self.sequence = sequence
            self.choice = choice
            self.level = level
            self.data = data
        }

        /// Powers the card (§6.1.1).
        public static func powerOn(_ voltage: Voltage) -> Command { Command(.powerOn, choice: voltage.rawValue) }

        /// Sends part of a command to the card (§6.1.4).
        public static func transfer(_ chain: Chain, _ data: [UInt8]) -> Command {
            Command(.transfer, level: chain.rawValue, data: data)
        }

        /// Sets the parameters of a protocol (§6.1.7).
        public static func set(_ parameters: Parameters) -> Command {
            Command(.setParameters, choice: parameters.protocolNumber, data: parameters.encoded)
        }

        /// Decodes a whole message.
        public init(decoding bytes: [UInt8]) throws(WireError) {
            let parts = try CCID.read(bytes)
            self.init(
                Kind(rawValue: parts.kind), slot: parts.slot, sequence: parts.sequence, choice: parts.tail[0],
                level: UInt16(parts.tail[1]) | UInt16(parts.tail[2]) << 8, data: parts.data)
        }

        /// The encoded message.
        public var encoded: [UInt8] {
            let tail = [choice, UInt8(truncatingIfNeeded: level), UInt8(level >> 8)]
            return CCID.write(kind.rawValue, slot, sequence, tail, data)
        }
    }
}
