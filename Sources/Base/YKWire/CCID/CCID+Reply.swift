// SPDX-License-Identifier: Apache-2.0

extension CCID {
    /// A message from a reader, `RDR_to_PC_…` (CCID 1.1 §6.2).
    public struct Reply: Hashable, Sendable {
        /// What kind of reply it is. An open set.
        public struct Kind: RawRepresentable, Hashable, Sendable {
            /// The first byte of the message.
            public let rawValue: UInt8
            /// Wraps a byte.
            public init(rawValue: UInt8) { self.rawValue = rawValue }
            /// Data from the card.
            public static let dataBlock = Kind(rawValue: 0x80)
            /// Whether there is a card.
            public static let slotStatus = Kind(rawValue: 0x81)
            /// The parameters of the protocol.
            public static let parameters = Kind(rawValue: 0x82)
            /// The reader's own.
            public static let escape = Kind(rawValue: 0x83)
            /// Speed and clock.
            public static let rateAndClock = Kind(rawValue: 0x84)
        }

        /// The card in the slot, bits 0 and 1 of the status.
        public enum Card: UInt8, Hashable, Sendable {
            /// It is there and has power.
            case active = 0
            /// It is there and has no power, or does not answer.
            case inactive = 1
            /// There is none.
            case absent = 2
        }

        /// What became of the command, bits 6 and 7 of the status.
        public enum Outcome: UInt8, Hashable, Sendable {
            /// It is done.
            case done = 0
            /// It failed; the error says why.
            case failed = 1
            /// The card wants more time; another reply follows.
            case moreTime = 2
        }

        /// What kind of reply it is.
        public var kind: Kind
        /// The slot, the first is 0.
        public var slot: UInt8
        /// The number of the command that this answers.
        public var sequence: UInt8
        /// Card and outcome in one byte.
        public var status: UInt8
        /// Why it failed; with ``Outcome/moreTime`` the factor of the waiting time.
        public var error: Failure
        /// Byte 9: which part of a chain it is, the protocol, or the clock.
        public var choice: UInt8
        /// What follows the header.
        public var data: [UInt8]

        /// Makes a message.
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

        /// Answers a command.
        public init(
            to command: Command, as kind: Kind? = nil, card: Card = .active, _ outcome: Outcome = .done,
            error: Failure = .unsupported, choice: UInt8 = 0, data: [UInt8] = []
        ) {
            self.init(
                kind ?? command.kind.reply, slot: command.slot, sequence: command.sequence,
                status: outcome.rawValue << 6 | card.rawValue, error: error, choice: choice, data: data)
        }

        /// The card in the slot; `nil` for a number that means nothing.
        public var card: Card? { Card(rawValue: status & 0x03) }
        /// What became of the command; `nil` for a number that means nothing.
        public var outcome: Outcome? { Outcome(rawValue: status >> 6) }
        /// Which part of a chain the data is; `nil` for a number that means nothing.
        public var chain: Chain? { Chain(rawValue: UInt16(choice)) }

        /// Reads a whole message.
        public init(decoding bytes: [UInt8]) throws(WireError) {
            let parts = try CCID.read(bytes)
            self.init(
                Kind(rawValue: parts.kind), slot: parts.slot, sequence: parts.sequence, status: parts.tail[0],
                error: Failure(rawValue: parts.tail[1]), choice: parts.tail[2], data: parts.data)
        }

        /// The message as bytes.
        public var encoded: [UInt8] {
            CCID.write(kind.rawValue, slot, sequence, [status, error.rawValue, choice], data)
        }
    }
}
