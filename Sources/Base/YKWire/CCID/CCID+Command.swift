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

    /// The protocol parameters between reader and card (CCID 1.1 §6.1.7, §6.2.3).
    public enum Parameters: Hashable, Sendable {
        /// T=0: speed (as TA1), convention, extra guard time, waiting integer (as TC2), clock stop support.
        case t0(speed: UInt8, convention: UInt8, guardTime: UInt8, waiting: UInt8, clockStop: UInt8)
        /// T=1: the same, with both waiting integers (as TB3) in one byte, the card's block size (IFSC), and the node
        /// address.
        case t1(T1)

        /// The parameters of T=1.
        public struct T1: Hashable, Sendable {
            /// The speed, as in TA1.
            public var speed: UInt8
            /// Bit 0: CRC instead of LRC; bit 1: inverse convention; bit 4 is set.
            public var convention: UInt8
            /// The extra guard time, as in TC1.
            public var guardTime: UInt8
            /// The waiting integers, as in TB3.
            public var waiting: UInt8
            /// The clock stop support.
            public var clockStop: UInt8
            /// The card's block size (IFSC).
            public var blockSize: UInt8
            /// The node address.
            public var node: UInt8

            /// Creates parameters.
            public init(
                speed: UInt8 = 0x11, convention: UInt8 = 0x10, guardTime: UInt8 = 0, waiting: UInt8 = 0x4D,
                clockStop: UInt8 = 0, blockSize: UInt8 = 0x20, node: UInt8 = 0
            ) {
                self.speed = speed
                self.convention = convention
                self.guardTime = guardTime
                self.waiting = waiting
                self.clockStop = clockStop
                self.blockSize = blockSize
                self.node = node
            }
        }

        /// The protocol number.
        public var protocolNumber: UInt8 { if case .t0 = self { 0 } else { 1 } }

        /// Decodes the parameters of a protocol: five bytes for T=0, seven for T=1.
        public init(_ number: UInt8, decoding bytes: [UInt8]) throws(WireError) {
            var reader = ByteReader(bytes)
            let (speed, convention) = (try reader.byte("the speed"), try reader.byte("the convention"))
            let (guardTime, waiting) = (try reader.byte("the guard time"), try reader.byte("the waiting time"))
            let clockStop = try reader.byte("the clock")
            switch number {
            case 0:
                self = .t0(
                    speed: speed, convention: convention, guardTime: guardTime, waiting: waiting, clockStop: clockStop)
            case 1:
                let (blockSize, node) = (try reader.byte("the size of blocks"), try reader.byte("the node"))
                self = .t1(
                    T1(
                        speed: speed, convention: convention, guardTime: guardTime, waiting: waiting,
                        clockStop: clockStop, blockSize: blockSize, node: node))
            default: throw WireError(.malformed, at: 0, "parameters of protocol \(number), expected 0 or 1")
            }
            try reader.finish("the parameters")
        }

        /// The encoded parameters.
        public var encoded: [UInt8] {
            switch self {
            case .t0(let speed, let convention, let guardTime, let waiting, let clockStop):
                [speed, convention, guardTime, waiting, clockStop]
            case .t1(let all):
                [
                    all.speed, all.convention, all.guardTime, all.waiting, all.clockStop, all.blockSize, all.node,
                ]
            }
        }
    }
}
