// SPDX-License-Identifier: Apache-2.0

/// One BER-TLV data object (ISO 7816-4 §5.2.2): a tag, a length and a value.
public struct TLV: Hashable, Sendable {
    /// A tag of one to four bytes as a big-endian number.
    public struct Tag: OpenSet, ExpressibleByIntegerLiteral {
        /// The bytes of the tag as a number.
        public let rawValue: UInt32
        /// Wraps a tag.
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        /// Wraps a tag.
        public init(integerLiteral value: UInt32) { rawValue = value }

        /// The bytes of the tag.
        public var bytes: [UInt8] {
            let all = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: rawValue >> UInt32($0)) }
            let trimmed = all.drop { $0 == 0 }
            return trimmed.isEmpty ? [0] : Array(trimmed)
        }

        /// Whether the value consists of data objects (bit 6 of the first byte).
        public var isConstructed: Bool { (bytes.first ?? 0) & 0x20 != 0 }

        /// The bytes in hexadecimal.
        public var description: String { Hex.encode(bytes) }
    }

    /// The tag.
    public var tag: Tag
    /// The value.
    public var value: [UInt8]

    /// Creates a data object.
    public init(_ tag: Tag, _ value: [UInt8]) {
        self.tag = tag
        self.value = value
    }
}
