// SPDX-License-Identifier: Apache-2.0

extension CCID {
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
            .unsupported: "the reader does not know the command", .slotBusy: "the slot is busy",
            .pinCancelled: "the PIN entry was cancelled", .pinTimeout: "nobody entered the PIN",
            .busy: "the reader is busy by itself", .protocolOff: "the protocol is switched off",
            .procedureByte: "the card's procedure byte makes no sense", .badClass: "the class is not supported",
            .badProtocol: "the card's protocol is not supported", .badATRCheck: "the answer to reset fails its check",
            .badATR: "the answer to reset makes no sense", .hardware: "the reader's hardware failed",
            .overrun: "the card sent too much", .parity: "parity error", .mute: "the card is mute",
            .aborted: "stopped",
        ]

        /// What went wrong, in a few words.
        public var description: String {
            if let name = Self.names[self] { return name }
            if rawValue < 0x80 { return "byte \(rawValue) of the command is wrong" }
            return "reader error \(Hex.encode([rawValue]))"
        }
    }
}
