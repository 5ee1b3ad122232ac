// SPDX-License-Identifier: Apache-2.0

extension CCID {
    /// A message from a reader, `RDR_to_PC_…` (CCID 1.1 §6.2).
    public struct Reply: Hashable, Sendable {
        /// The message type.
        public struct Kind: OpenSet {
            /// The first byte of the message.
            public let rawValue: UInt8
            /// Wraps a byte.
            public init(rawValue: UInt8) { self.rawValue = rawValue }
            /// Data from the card.
            public static let dataBlock = Kind(rawValue: 0x80)
            /// Whether a card is present.
            public static let slotStatus = Kind(rawValue: 0x81)
            /// The parameters of the protocol.
            public static let parameters = Kind(rawValue: 0x82)
            /// A vendor-specific reply.
            public static let escape = Kind(rawValue: 0x83)
            /// The data rate and clock frequency.
            public static let rateAndClock = Kind(rawValue: 0x84)
        }

        /// The state of the card in the slot, bits 0 and 1 of the status.
        public enum Card: UInt8, Hashable, Sendable {
            /// A card is present and powered.
            case active = 0
            /// A card is present but not powered, or does not answer.
            case inactive = 1
            /// No card is present.
            case absent = 2
        }

        /// The outcome of the command, bits 6 and 7 of the status.
        public enum Outcome: UInt8, Hashable, Sendable {
            /// It succeeded.
            case done = 0
            /// It failed; the error gives the reason.
            case failed = 1
            /// The card requests more time; another reply follows.
            case moreTime = 2
        }

        /// The message type.
        public var kind: Kind
        /// The slot; the first is 0.
        public var slot: UInt8
        /// The sequence number of the command that this answers.
        public var sequence: UInt8
        /// The states of card and command in one byte.
        public var status: UInt8
        /// The reason for a failure; with ``Outcome/moreTime`` the factor for the waiting time.
        public var error: Failure
        /// Byte 9: the position in a chain, the protocol, or the clock status.
        public var choice: UInt8
        /// The data after the header.
        public var data: [UInt8]

        /// Creates a message.
        public init(
            _ kind: Kind, slot: UInt8 = 0, sequence: UInt8 = 0, status: UInt8 = 0, error: Failure = .unsupported,
            choice: UInt8 = 0, data: [UInt8] = []
        ) {
            self.kind = kind
            self.slot = slot
            self.sequence = sequence
            self.status = status
            self.error = error
            self.choice = choice
            self.data = data
        }

        /// Creates the reply to a command.
        public init(
            to command: Command, as kind: Kind? = nil, card: Card = .active, _ outcome: Outcome = .done,
            error: Failure = .unsupported, choice: UInt8 = 0, data: [UInt8] = []
        ) {
            self.init(
                kind ?? command.kind.reply, slot: command.slot, sequence: command.sequence,
                status: outcome.rawValue << 6 | card.rawValue, error: error, choice: choice, data: data)
        }

        /// The state of the card; `nil` for an undefined value.
        public var card: Card? { Card(rawValue: status & 0x03) }
        /// The outcome of the command; `nil` for an undefined value.
        public var outcome: Outcome? { Outcome(rawValue: status >> 6) }
        /// The position of the data in a chain; `nil` for an undefined value.
        public var chain: Chain? { Chain(rawValue: UInt16(choice)) }

        /// Decodes a whole message.
        public init(decoding bytes: [UInt8]) throws(WireError) {
            let parts = try CCID.read(bytes)
            self.init(
                Kind(rawValue: parts.kind), slot: parts.slot, sequence: parts.sequence, status: parts.tail[0],
                error: Failure(rawValue: parts.tail[1]), choice: parts.tail[2], data: parts.data)
        }

        /// The encoded message.
        public var encoded: [UInt8] {
            CCID.write(kind.rawValue, slot, sequence, [status, error.rawValue, choice], data)
        }
    }
}
