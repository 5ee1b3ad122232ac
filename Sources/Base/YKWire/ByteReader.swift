// SPDX-License-Identifier: Apache-2.0

/// Consumes bytes from the front; every length is checked against what is left before any arithmetic.
///
/// A reader over part of an input keeps the outer offsets, so errors give the position in the whole message.
public struct ByteReader: Sendable {
    private let bytes: [UInt8]
    private let end: Int
    /// The offset of the next byte from the start of the outermost input.
    public private(set) var offset: Int

    /// Starts at the first byte of `bytes`.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
        self.end = bytes.count
        self.offset = 0
    }

    private init(_ bytes: [UInt8], from offset: Int, to end: Int) {
        self.bytes = bytes
        self.end = end
        self.offset = offset
    }

    /// The number of bytes left.
    public var remaining: Int { end - offset }
    /// Whether no bytes are left.
    public var isAtEnd: Bool { offset == end }
    /// The next byte, without consuming it; `nil` at the end.
    public var peek: UInt8? { offset < end ? bytes[offset] : nil }

    /// Reads one byte.
    public mutating func byte(_ what: @autoclosure () -> String = "a byte") throws(WireError) -> UInt8 {
        guard offset < end else { throw missing(1, what()) }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// Reads `count` bytes.
    public mutating func bytes(
        _ count: Int, _ what: @autoclosure () -> String = "data"
    ) throws(WireError) -> [UInt8] {
        guard count >= 0, count <= remaining else { throw missing(count, what()) }
        defer { offset += count }
        return Array(bytes[offset..<(offset + count)])
    }

    /// Reads all bytes that are left.
    public mutating func rest() -> [UInt8] {
        defer { offset = end }
        return Array(bytes[offset..<end])
    }

    /// Returns a separate reader over the next `count` bytes, which keeps the outer offsets.
    public mutating func reader(
        _ count: Int, _ what: @autoclosure () -> String = "data"
    ) throws(WireError) -> ByteReader {
        guard count >= 0, count <= remaining else { throw missing(count, what()) }
        defer { offset += count }
        return ByteReader(bytes, from: offset, to: offset + count)
    }

    /// Reads an unsigned integer of `count` bytes (1 to 8), most significant first.
    public mutating func bigEndian(
        _ count: Int, _ what: @autoclosure () -> String = "an integer"
    ) throws(WireError) -> UInt64 {
        try bytes(min(count, 8), what()).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads an unsigned integer of `count` bytes (1 to 8), least significant first.
    public mutating func littleEndian(
        _ count: Int, _ what: @autoclosure () -> String = "an integer"
    ) throws(WireError) -> UInt64 {
        try bytes(min(count, 8), what()).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads two bytes, most significant first.
    public mutating func uint16(_ what: @autoclosure () -> String = "two bytes") throws(WireError) -> UInt16 {
        UInt16(truncatingIfNeeded: try bigEndian(2, what()))
    }

    /// Reads four bytes, most significant first.
    public mutating func uint32(_ what: @autoclosure () -> String = "four bytes") throws(WireError) -> UInt32 {
        UInt32(truncatingIfNeeded: try bigEndian(4, what()))
    }

    /// Throws `trailing` unless everything was consumed.
    public func finish(_ what: @autoclosure () -> String = "the value") throws(WireError) {
        guard isAtEnd else {
            throw WireError(.trailing, at: offset, "\(remaining) bytes left over after \(what())")
        }
    }

    /// A CBOR cursor over the bytes left, with the same offsets.
    var cborCursor: CBORCursor { CBORCursor(bytes, from: offset, to: end) }

    private func missing(_ count: Int, _ what: String) -> WireError {
        WireError(.truncated, at: offset, "expected \(what) of \(count) bytes, \(remaining) left")
    }
}

/// Builds a message from front to back.
public struct ByteWriter: Sendable {
    /// The bytes written so far.
    public private(set) var bytes: [UInt8]

    /// Starts empty, with room for `capacity` bytes.
    public init(capacity: Int = 64) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Appends one byte.
    public mutating func byte(_ value: UInt8) { bytes.append(value) }

    /// Appends bytes.
    public mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

    /// Appends the low `count` bytes (1 to 8) of `value`, most significant first.
    public mutating func bigEndian(_ value: UInt64, _ count: Int) {
        for shift in stride(from: (count - 1) * 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
        }
    }

    /// Appends the low `count` bytes (1 to 8) of `value`, least significant first.
    public mutating func littleEndian(_ value: UInt64, _ count: Int) {
        for shift in stride(from: 0, to: count * 8, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
        }
    }
}
