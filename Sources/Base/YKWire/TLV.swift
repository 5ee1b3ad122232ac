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

    /// Which length fields a reader accepts.
    public enum Lengths: Sendable {
        /// Every form of basic encoding.
        case any
        /// Only the shortest, as distinguished encoding requires (X.690 §10.1).
        case shortest
    }

    /// The tag, the shortest length field, and the value.
    public var encoded: [UInt8] {
        var writer = ByteWriter(capacity: value.count + 6)
        writer.append(tag.bytes)
        writer.append(Self.lengthField(value.count))
        writer.append(value)
        return writer.bytes
    }

    /// The shortest BER length field for `count` bytes (ISO 7816-4 §5.2.2.2).
    public static func lengthField(_ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [UInt8(truncatingIfNeeded: count)] }
        var digits: [UInt8] = []
        var rest = count
        while rest > 0 {
            digits.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(truncatingIfNeeded: digits.count)] + digits
    }

    /// Decodes the whole input as a sequence of data objects.
    public static func list(_ bytes: [UInt8]) throws(WireError) -> [TLV] {
        var reader = ByteReader(bytes)
        return try reader.tlvs()
    }
}

extension [TLV] {
    /// The data objects, concatenated.
    public var encoded: [UInt8] { flatMap(\.encoded) }

    /// The value of the first object with this tag.
    public func value(_ tag: TLV.Tag) -> [UInt8]? { first { $0.tag == tag }?.value }

    /// The value of the first object with this tag.
    ///
    /// - Throws: `missing` when there is none.
    public func required(_ tag: TLV.Tag, _ what: String) throws(WireError) -> [UInt8] {
        guard let value = value(tag) else { throw WireError(.missing, at: 0, "no \(what) (tag \(tag))") }
        return value
    }
}

extension ByteReader {
    /// Reads one BER-TLV data object (ISO 7816-4 §5.2.2), of indefinite length (X.690 §8.1.3.6) only if `lengths` is
    /// `any`.
    public mutating func tlv(lengths: TLV.Lengths = .any) throws(WireError) -> TLV {
        let tag = try tlvTag()
        if lengths == .any, peek == 0x80 { return TLV(tag, try indefinite(tag)) }
        return TLV(tag, try bytes(try tlvLength(lengths), "the value of tag \(tag)"))
    }

    /// Reads data objects until nothing is left.
    public mutating func tlvs(lengths: TLV.Lengths = .any) throws(WireError) -> [TLV] {
        var list: [TLV] = []
        while !isAtEnd { list.append(try tlv(lengths: lengths)) }
        return list
    }

    /// Reads one data object that must have this tag, and returns a reader over its value.
    public mutating func tlv(
        _ expected: TLV.Tag, _ what: String, lengths: TLV.Lengths = .any
    ) throws(WireError) -> ByteReader {
        let start = offset
        let tag = try tlvTag()
        guard tag == expected else {
            throw WireError(.malformed, at: start, "expected \(what) (tag \(expected)), got tag \(tag)")
        }
        return try reader(try tlvLength(lengths), what)
    }

    /// Reads a tag of one to four bytes (ISO 7816-4 §5.2.2.1).
    public mutating func tlvTag() throws(WireError) -> TLV.Tag {
        let start = offset
        let first = try byte("a tag")
        guard first & 0x1F == 0x1F else { return TLV.Tag(rawValue: UInt32(first)) }
        var raw = UInt32(first)
        for _ in 0..<3 {
            let next = try byte("the rest of a tag")
            raw = raw << 8 | UInt32(next)
            if next & 0x80 == 0 { return TLV.Tag(rawValue: raw) }
        }
        throw WireError(.tooLarge, at: start, "a tag of more than four bytes")
    }

    /// Reads a definite length field (ISO 7816-4 §5.2.2.2) of at most four length bytes.
    public mutating func tlvLength(_ lengths: TLV.Lengths = .any) throws(WireError) -> Int {
        let start = offset
        let first = try byte("a length")
        guard first >= 0x80 else { return Int(first) }
        guard (0x81...0x84).contains(first) else {
            throw WireError(.malformed, at: start, "length field starts with \(Hex.encode([first]))")
        }
        let length = Int(try bigEndian(Int(first & 0x7F), "a length"))
        guard lengths == .any || offset - start == TLV.lengthField(length).count else {
            throw WireError(.malformed, at: start, "a length that is not in its shortest form")
        }
        return length
    }

    /// Reads a value of indefinite length (X.690 §8.1.3.6): data objects up to the end-of-contents 00 00.
    private mutating func indefinite(_ tag: TLV.Tag, depth: Int = 0) throws(WireError) -> [UInt8] {
        guard tag.isConstructed, depth < 16 else {
            throw WireError(.tooDeep, at: offset, "indefinite length in tag \(tag)")
        }
        _ = try byte("a length")
        var value: [UInt8] = []
        while true {
            let inner = try tlvTag()
            if inner.rawValue == 0 {
                guard try byte("an end mark") == 0 else {
                    throw WireError(.malformed, at: offset - 1, "end mark with a length")
                }
                return value
            }
            let content =
                peek == 0x80
                ? try indefinite(inner, depth: depth + 1) : try bytes(try tlvLength(), "the value of tag \(inner)")
            value += TLV(inner, content).encoded
        }
    }
}
