// SPDX-License-Identifier: Apache-2.0

/// An NDEF message: a list of records (NFC Forum NDEF 1.0 §2.1).
public struct NDEFMessage: Hashable, Sendable {
    /// The records in order; chunked ones are reassembled.
    public var records: [NDEFRecord]

    /// Creates a message.
    public init(_ records: [NDEFRecord]) { self.records = records }

    /// The meanings of the records; unreadable records are omitted.
    public var contents: [NDEFContent] { records.compactMap { try? $0.content() } }
}

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

/// One record of a message: a payload and its type (NFC Forum NDEF 1.0 §3.2).
public struct NDEFRecord: Hashable, Sendable {
    /// How to interpret the type of a record (§3.2.6).
    public enum Format: UInt8, Hashable, Sendable, CaseIterable {
        /// The record is empty.
        case empty = 0
        /// A type defined by the NFC Forum, such as `U`.
        case wellKnown = 1
        /// A media type (RFC 2046).
        case media = 2
        /// The type is the absolute URI itself (RFC 3986).
        case absoluteURI = 3
        /// An external type of an organization, `example.com:name`.
        case external = 4
        /// The type is unknown.
        case unknown = 5
        /// A chunk after the first; never the format of a whole record.
        case unchanged = 6
        /// Reserved; treated as unknown.
        case reserved = 7
    }

    /// How to interpret the type.
    public var format: Format
    /// The type, at most 255 bytes of ASCII.
    public var type: [UInt8]
    /// The record's name in the message, at most 255 bytes; may be empty.
    public var id: [UInt8]
    /// The payload.
    public var payload: [UInt8]

    /// Creates a record.
    public init(_ format: Format, type: [UInt8] = [], id: [UInt8] = [], payload: [UInt8] = []) {
        self.format = format
        self.type = type
        self.id = id
        self.payload = payload
    }

    /// Creates a record of a type defined by the NFC Forum.
    public init(wellKnown type: String, payload: [UInt8]) {
        self.init(.wellKnown, type: Array(type.utf8), payload: payload)
    }

    /// The type as text; invalid UTF-8 becomes the replacement character.
    public var typeName: String { String(decoding: type, as: UTF8.self) }
}

/// The meaning of a record.
public enum NDEFContent: Hashable, Sendable {
    /// An empty record.
    case empty
    /// A URI (type `U`).
    case uri(NDEFURI)
    /// A text (type `T`).
    case text(NDEFText)
    /// A smart poster: a URI with information about it (type `Sp`).
    case smartPoster(NDEFSmartPoster)
    /// Another type defined by the NFC Forum.
    case wellKnown(type: String, [UInt8])
    /// Data of a media type.
    case media(type: String, [UInt8])
    /// An absolute URI as the record's type, with its payload.
    case absoluteURI(String, [UInt8])
    /// An external type, defined by an organization.
    case external(type: String, [UInt8])
    /// Bytes of an unknown type.
    case unknown([UInt8])
}

extension NDEFRecord {
    /// Interprets the record.
    ///
    /// - Throws: `WireError` when the payload does not match the type.
    public func content() throws(WireError) -> NDEFContent {
        switch format {
        case .empty: .empty
        case .wellKnown: try wellKnown()
        case .media: .media(type: typeName, payload)
        case .absoluteURI: .absoluteURI(typeName, payload)
        case .external: .external(type: typeName, payload)
        case .unknown, .unchanged, .reserved: .unknown(payload)
        }
    }

    private func wellKnown() throws(WireError) -> NDEFContent {
        switch type {
        case Array("U".utf8): .uri(try NDEFURI(decoding: payload))
        case Array("T".utf8): .text(try NDEFText(decoding: payload))
        case Array("Sp".utf8): .smartPoster(try NDEFSmartPoster(decoding: payload))
        default: .wellKnown(type: typeName, payload)
        }
    }
}
