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

    /// Why a reader did not execute a command (CCID 1.1 §6.2.6, table 6.2-2).
    public struct Failure: OpenSet {
        /// The error byte.
        public let rawValue: UInt8
        /// Wraps an error byte.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The command is not supported.
        public static let unsupported = Failure(rawValue: 0x00)
        /// The length of the message is wrong.
        public static let badLength = Failure(rawValue: 0x01)
        /// The slot does not exist.
        public static let badSlot = Failure(rawValue: 0x05)
        /// The reader does not support the voltage or the protocol.
        public static let badChoice = Failure(rawValue: 0x07)
        /// The level parameter is invalid.
        public static let badLevel = Failure(rawValue: 0x08)
        /// The slot is busy with another command.
        public static let slotBusy = Failure(rawValue: 0xE0)
        /// The user cancelled PIN entry on the reader.
        public static let pinCancelled = Failure(rawValue: 0xEF)
        /// PIN entry on the reader timed out.
        public static let pinTimeout = Failure(rawValue: 0xF0)
        /// The reader is busy with an automatic sequence.
        public static let busy = Failure(rawValue: 0xF2)
        /// The protocol was switched off.
        public static let protocolOff = Failure(rawValue: 0xF3)
        /// The card's procedure byte is invalid.
        public static let procedureByte = Failure(rawValue: 0xF4)
        /// The class byte is not supported.
        public static let badClass = Failure(rawValue: 0xF5)
        /// The card's protocol is not supported.
        public static let badProtocol = Failure(rawValue: 0xF6)
        /// The check byte of the answer to reset is wrong.
        public static let badATRCheck = Failure(rawValue: 0xF7)
        /// The first byte of the answer to reset is wrong.
        public static let badATR = Failure(rawValue: 0xF8)
        /// Something in the reader failed.
        public static let hardware = Failure(rawValue: 0xFB)
        /// The card sent more data than fits.
        public static let overrun = Failure(rawValue: 0xFC)
        /// The parity of a byte is wrong.
        public static let parity = Failure(rawValue: 0xFD)
        /// The card does not answer.
        public static let mute = Failure(rawValue: 0xFE)
        /// The host aborted the command.
        public static let aborted = Failure(rawValue: 0xFF)

        private static let names: [Failure: String] = [
            .unsupported: "the reader does not support the command", .slotBusy: "the slot is busy",
            .pinCancelled: "the PIN entry was cancelled", .pinTimeout: "no PIN was entered",
            .busy: "the reader is busy with an automatic sequence", .protocolOff: "the protocol is switched off",
            .procedureByte: "invalid procedure byte from the card", .badClass: "the class is not supported",
            .badProtocol: "the card's protocol is not supported", .badATRCheck: "the answer to reset fails its check",
            .badATR: "invalid answer to reset", .hardware: "the reader's hardware failed",
            .overrun: "the card sent too much data", .parity: "parity error", .mute: "the card is mute",
            .aborted: "stopped",
        ]

        /// What went wrong, in a few words.
        public var description: String {
            if let name = Self.names[self] { return name }
            if rawValue < 0x80 { return "byte \(rawValue) of the command is wrong" }
            return "reader error \(Hex.encode([rawValue]))"
        }
    }

    /// A message on a reader's interrupt endpoint (CCID 1.1 §6.3).
    public enum Notification: Hashable, Sendable {
        /// Cards were inserted or removed: two bits for each slot, the first in the low bits.
        case slots([UInt8])
        /// The reader has a hardware error.
        case hardware(slot: UInt8, sequence: UInt8, code: UInt8)
        /// Any other message.
        case other([UInt8])

        /// Decodes a notification; unknown ones are kept.
        public init(_ bytes: [UInt8]) {
            switch bytes.first {
            case 0x50? where bytes.count > 1: self = .slots(Array(bytes.dropFirst()))
            case 0x51? where bytes.count == 4: self = .hardware(slot: bytes[1], sequence: bytes[2], code: bytes[3])
            default: self = .other(bytes)
            }
        }

        /// Whether a card is in a slot, and whether that changed; `nil` when the notification does not say.
        public func state(of slot: UInt8) -> (hasCard: Bool, hasChanged: Bool)? {
            guard case .slots(let bits) = self, bits.indices.contains(Int(slot / 4)) else { return nil }
            let pair = bits[Int(slot / 4)] >> (2 * (slot % 4))
            return (pair & 1 != 0, pair & 2 != 0)
        }
    }

    /// Reassembles consecutive messages from transfers of any size.
    public struct Assembler: Hashable, Sendable {
        private var open: [UInt8] = []

        /// Creates an empty assembler.
        public init() {}

        /// Whether a message is incomplete.
        public var isInMessage: Bool { !open.isEmpty }

        /// The number of bytes missing from the message, or from its header.
        public var missing: Int {
            let length = CCID.announcedLength(open).map { min($0, CCID.dataLimit) } ?? 0
            return max(0, CCID.headerSize + length - open.count)
        }

        /// Adds a transfer; returns the message once it is complete.
        ///
        /// - Throws: `WireError` for a length above ``CCID/dataLimit`` and for unannounced bytes; the incomplete
        /// message is then discarded.
        public mutating func add(_ transfer: [UInt8]) throws(WireError) -> [UInt8]? {
            open += transfer
            guard let length = CCID.announcedLength(open) else { return nil }
            guard length <= CCID.dataLimit else {
                throw drop(.tooLarge, at: 1, "a message of \(length) bytes, at most \(CCID.dataLimit)")
            }
            let size = CCID.headerSize + length
            guard open.count <= size else {
                throw drop(.trailing, at: size, "\(open.count - size) bytes more than the message announces")
            }
            guard open.count == size else { return nil }
            defer { open = [] }
            return open
        }

        /// Discards the incomplete message.
        public mutating func reset() { open = [] }

        private mutating func drop(_ code: WireError.Code, at offset: Int, _ reason: String) -> WireError {
            open = []
            return WireError(code, at: offset, reason)
        }
    }
}
