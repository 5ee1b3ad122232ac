// SPDX-License-Identifier: Apache-2.0

extension NDEFMessage {
    /// Decodes a message: at least one record, the first marked as the beginning and the last as the end, and no
    /// trailing bytes (NFC Forum NDEF 1.0 §3.2.1, §3.2.2).
    public init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        try self.init(&reader)
        try reader.finish("the message")
    }

    private init(_ reader: inout ByteReader) throws(WireError) {
        var found: [NDEFRecord] = []
        var open: NDEFRecord?
        var isFirst = true
        while true {
            let start = reader.offset
            let piece = try NDEFPiece(&reader)
            guard piece.flags.contains(.messageBegin) == isFirst else {
                throw WireError(
                    .malformed, at: start, isFirst ? "no beginning of a message" : "a second beginning of a message")
            }
            isFirst = false
            open = try piece.joined(to: open, at: start)
            if !piece.flags.contains(.chunk), let whole = open.take() { found.append(whole) }
            guard piece.flags.contains(.messageEnd) else { continue }
            guard open == nil else { throw WireError(.truncated, at: reader.offset, "the last chunk is missing") }
            records = found
            return
        }
    }

    /// The message as stored on a tag: short records where possible; payloads longer than `chunk` bytes, if given, are
    /// split into chunks (NFC Forum NDEF 1.0 §2.3.3).
    ///
    /// - Throws: `missing` for a message without records and `tooLarge` for a type or identifier longer than 255 bytes.
    public func encoded(chunk: Int? = nil) throws(WireError) -> [UInt8] {
        guard !records.isEmpty else { throw WireError(.missing, at: 0, "a message has at least one record") }
        var writer = ByteWriter()
        for (index, record) in records.enumerated() {
            let pieces = record.pieces(of: chunk)
            for (number, piece) in pieces.enumerated() {
                var piece = piece
                if index == 0, number == 0 { piece.flags.insert(.messageBegin) }
                if index == records.count - 1, number == pieces.count - 1 { piece.flags.insert(.messageEnd) }
                try piece.append(to: &writer)
            }
        }
        return writer.bytes
    }
}
