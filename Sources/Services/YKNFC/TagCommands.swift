// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// SELECT of a file by its identifier, without response data (ISO 7816-4 §11.2.2; NFC Forum Type 4 Tag 2.0 §5.4.2).
struct SelectFile: CardCommand {
    static let name = "SELECT"
    let file: UInt16

    var apdu: APDU {
        APDU(ins: ISO7816.select, p1: 0x00, p2: 0x0C, data: [UInt8(file >> 8), UInt8(truncatingIfNeeded: file)])
    }

    func decode(_ reader: inout ByteReader) {}
}

/// READ BINARY from an offset of at most 32767 (ISO 7816-4 §11.3.3; NFC Forum Type 4 Tag 2.0 §5.4.3).
struct ReadBinary: CardCommand {
    static let name = "READ BINARY"
    let offset: UInt16
    let count: UInt8

    var apdu: APDU {
        APDU(ins: ISO7816.readBinary, parameters: offset, le: .bytes(UInt16(count)))
    }

    /// The requested bytes; extra bytes are dropped.
    func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        guard !reader.isAtEnd else { throw WireError(.truncated, at: 0, "an empty piece of a file") }
        return Array(reader.rest().prefix(Int(count)))
    }
}

/// READ BINARY with the offset in a data object, for offsets above 32767 (ISO 7816-4 §11.3.3, odd instruction).
struct ReadBinaryFar: CardCommand {
    static let name = "READ BINARY"
    let offset: UInt32
    let count: UInt8

    var apdu: APDU {
        var writer = ByteWriter(capacity: 5)
        writer.append([0x54, 0x03])
        writer.bigEndian(UInt64(offset), 3)
        return APDU(ins: ISO7816.readBinaryExtended, data: writer.bytes, le: .bytes(UInt16(count)))
    }

    /// A data object 53 with the requested bytes.
    func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        let objects = try reader.tlvs()
        guard let value = objects.value(0x53), !value.isEmpty else {
            throw WireError(.missing, at: 0, "an empty piece of a file")
        }
        return Array(value.prefix(Int(count)))
    }
}
