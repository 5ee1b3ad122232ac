// SPDX-License-Identifier: Apache-2.0

/// A block of the transmission protocol T=1 (ISO 7816-3 §11.3).
public struct T1Block: Hashable, Sendable {
    /// The type of a block (ISO 7816-3 §11.3.2.2).
    public enum Kind: Hashable, Sendable {
        /// An information block: its number, 0 or 1, and whether more follow.
        case information(number: UInt8, isMore: Bool)
        /// Ready for the information block of this number; with the error that the last block had: 1 for its check, 2
        /// for anything else.
        case ready(number: UInt8, error: UInt8)
        /// A supervisory request, or the response to one.
        case supervisory(Supervision, isResponse: Bool)
    }

    /// The subject of a supervisory block.
    public struct Supervision: OpenSet {
        /// The low five bits of the protocol control byte.
        public let rawValue: UInt8
        /// Wraps the bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue & 0x1F }
        /// Resets the block numbers to 0.
        public static let resynchronise = Supervision(rawValue: 0)
        /// The size of information fields.
        public static let size = Supervision(rawValue: 1)
        /// Aborts a chain.
        public static let abort = Supervision(rawValue: 2)
        /// The card needs more time.
        public static let moreTime = Supervision(rawValue: 3)
    }

    /// The error detection code of blocks.
    public enum Check: Hashable, Sendable {
        /// One byte: the exclusive or of all bytes.
        case lrc
        /// Two bytes: CRC of ISO/IEC 13239, the most significant first.
        case crc
    }

    /// The maximum size of the information field, in bytes.
    public static let informationLimit = 254

    /// The node address; 0 when unused.
    public var node: UInt8
    /// The type.
    public var kind: Kind
    /// The information field.
    public var information: [UInt8]

    /// Creates a block.
    public init(_ kind: Kind, _ information: [UInt8] = [], node: UInt8 = 0) {
        self.kind = kind
        self.information = information
        self.node = node
    }
}
