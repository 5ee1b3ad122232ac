// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Reads the fields of a protocol buffer message in order.
struct ProtobufReader {
    /// The value of a field, by wire type; fixed-width numbers are kept as bytes.
    enum Value {
        case varint(UInt64)
        case bytes([UInt8])
        case fixed
    }

    private var reader: ByteReader

    init(_ bytes: [UInt8]) { reader = ByteReader(bytes) }

    /// The next field's number and value; `nil` at the end of the message.
    mutating func field() throws(WireError) -> (number: UInt64, value: Value)? {
        if reader.isAtEnd { return nil }
        let start = reader.offset
        let key = try varint()
        guard key >> 3 > 0 else { throw WireError(.malformed, at: start, "field number 0") }
        switch key & 7 {
        case 0: return (key >> 3, .varint(try varint()))
        case 1: return (key >> 3, try fixed(8))
        case 2: return (key >> 3, .bytes(try reader.bytes(try length(), "field \(key >> 3)")))
        case 5: return (key >> 3, try fixed(4))
        default: throw WireError(.malformed, at: start, "wire type \(key & 7)")
        }
    }

    private mutating func fixed(_ count: Int) throws(WireError) -> Value {
        _ = try reader.bytes(count, "a number")
        return .fixed
    }

    private mutating func length() throws(WireError) -> Int {
        let start = reader.offset
        guard let length = Int(exactly: try varint()) else {
            throw WireError(.tooLarge, at: start, "a length beyond the message")
        }
        return length
    }

    private mutating func varint() throws(WireError) -> UInt64 {
        let start = reader.offset
        var value: UInt64 = 0
        for shift: UInt64 in stride(from: 0, through: 63, by: 7) {
            let byte = try reader.byte("a number")
            if shift == 63, byte > 1 { break }
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
        }
        throw WireError(.tooLarge, at: start, "a number of more than 64 bits")
    }
}

/// Writes the fields of one protocol buffer message.
struct ProtobufWriter {
    private var writer = ByteWriter()

    var bytes: [UInt8] { writer.bytes }

    mutating func field(_ number: UInt64, _ value: UInt64) {
        varint(number << 3)
        varint(value)
    }

    mutating func field(_ number: UInt64, _ bytes: [UInt8]) {
        varint(number << 3 | 2)
        varint(UInt64(bytes.count))
        writer.append(bytes)
    }

    private mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            writer.byte(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        writer.byte(UInt8(truncatingIfNeeded: rest))
    }
}
