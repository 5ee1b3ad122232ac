// SPDX-License-Identifier: Apache-2.0

/// A block of the transmission protocol T=1 (ISO 7816-3 §11.3).
public struct T1Block: Hashable, Sendable {
    /// What a block is for (ISO 7816-3 §11.3.2.2).
    public enum Kind: Hashable, Sendable {
        /// Information: its number, 0 or 1, and whether more is to come.
        case information(number: UInt8, isMore: Bool)
        /// Ready for the information block of this number; with the reason where the last one was not understood:
        /// 1 for its check, 2 for anything else.
        case ready(number: UInt8, error: UInt8)
        /// A request, or the response to one.
        case supervisory(Supervision, isResponse: Bool)
    }

    /// What a supervisory block is about. An open set.
    public struct Supervision: RawRepresentable, Hashable, Sendable {
        /// The low five bits of the protocol control byte.
        public let rawValue: UInt8
        /// Wraps the bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue & 0x1F }
        /// Numbers begin at 0 again.
        public static let resynchronise = Supervision(rawValue: 0)
        /// The size of information fields.
        public static let size = Supervision(rawValue: 1)
        /// A chain is given up.
        public static let abort = Supervision(rawValue: 2)
        /// The card needs more time.
        public static let moreTime = Supervision(rawValue: 3)
    }

    /// How a block is checked.
    public enum Check: Hashable, Sendable {
        /// One byte: the exclusive or of all.
        case lrc
        /// Two bytes: CRC of ISO/IEC 13239, the most significant first.
        case crc
    }

    /// The longest information field, in bytes.
    public static let informationLimit = 254

    /// The node address; 0 when none are used.
    public var node: UInt8
    /// What it is for.
    public var kind: Kind
    /// What it carries.
    public var information: [UInt8]

    /// Makes a block.
    public init(_ kind: Kind, _ information: [UInt8] = [], node: UInt8 = 0) {
        self.kind = kind
        self.information = information
        self.node = node
    }
}
