// SPDX-License-Identifier: Apache-2.0

/// A record as stored on a tag: whole, or a chunk of one (NFC Forum NDEF 1.0 §3.2).
struct NDEFPiece {
    /// The upper bits of the first byte.
    struct Flags: OptionSet {
        let rawValue: UInt8
        static let messageBegin = Flags(rawValue: 0x80)
        static let messageEnd = Flags(rawValue: 0x40)
        static let chunk = Flags(rawValue: 0x20)
        static let short = Flags(rawValue: 0x10)
        static let id = Flags(rawValue: 0x08)
    }

    var flags: Flags
    var record: NDEFRecord

    init(_ record: NDEFRecord, _ flags: Flags = []) {
        self.record = record
        self.flags = flags
    }

    /// Reads a header, and the type, identifier and payload that it announces.
    init(_ reader: inout ByteReader) throws(WireError) {
        let start = reader.offset
        let head = try reader.byte("the head of a record")
        flags = Flags(rawValue: head & 0xF8)
        let format = NDEFRecord.Format(rawValue: head & 0x07) ?? .reserved
        let typeLength = Int(try reader.byte("the length of the type"))
        let payloadLength =
            flags.contains(.short)
            ? Int(try reader.byte("the length of the payload")) : Int(try reader.uint32("the length of the payload"))
        let idLength = flags.contains(.id) ? Int(try reader.byte("the length of the identifier")) : 0
        record = NDEFRecord(
            format, type: try reader.bytes(typeLength, "the type"), id: try reader.bytes(idLength, "the identifier"),
            payload: try reader.bytes(payloadLength, "the payload"))
        try check(at: start)
    }

    private func check(at start: Int) throws(WireError) {
        switch record.format {
        case .empty:
            guard record.type.isEmpty, record.id.isEmpty, record.payload.isEmpty, !flags.contains(.chunk) else {
                throw WireError(.malformed, at: start, "an empty record with content")
            }
        case .unknown, .unchanged:
            guard record.type.isEmpty else { throw WireError(.malformed, at: start, "an unexpected record type") }
        case .wellKnown, .media, .absoluteURI, .external:
            guard !record.type.isEmpty else { throw WireError(.missing, at: start, "a record without a type") }
        case .reserved: break
        }
    }

    /// The open record with this piece added: a first chunk starts one, the others continue it (§2.3.3).
    func joined(to open: NDEFRecord?, at start: Int) throws(WireError) -> NDEFRecord {
        guard record.format == .unchanged else {
            guard open == nil else { throw WireError(.malformed, at: start, "a record among the chunks of another") }
            return record
        }
        guard var whole = open else { throw WireError(.malformed, at: start, "a chunk without a first chunk") }
        guard !flags.contains(.id) else { throw WireError(.malformed, at: start, "a chunk with an identifier") }
        whole.payload += record.payload
        return whole
    }

    func append(to writer: inout ByteWriter) throws(WireError) {
        guard let typeLength = UInt8(exactly: record.type.count), let idLength = UInt8(exactly: record.id.count),
            let length = UInt32(exactly: record.payload.count)
        else { throw WireError(.tooLarge, at: writer.bytes.count, "a type or identifier has at most 255 bytes") }
        var flags = flags
        if length <= 255 { flags.insert(.short) }
        if idLength > 0 { flags.insert(.id) }
        writer.byte(flags.rawValue | record.format.rawValue)
        writer.byte(typeLength)
        writer.bigEndian(UInt64(length), length <= 255 ? 1 : 4)
        if idLength > 0 { writer.byte(idLength) }
        writer.append(record.type)
        writer.append(record.id)
        writer.append(record.payload)
    }
}

extension NDEFRecord {
    /// The record split into pieces of at most `size` bytes of payload; in one piece without a size.
    func pieces(of size: Int?) -> [NDEFPiece] {
        guard let size, size > 0, payload.count > size else { return [NDEFPiece(self)] }
        return stride(from: 0, to: payload.count, by: size).map { start in
            let end = min(start + size, payload.count)
            var record = self
            if start > 0 { record = NDEFRecord(.unchanged) }
            record.payload = Array(payload[start..<end])
            return NDEFPiece(record, end < payload.count ? .chunk : [])
        }
    }
}
