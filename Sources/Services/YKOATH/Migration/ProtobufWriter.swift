// SPDX-License-Identifier: Apache-2.0

import YKWire

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
