// SPDX-License-Identifier: Apache-2.0

/// A smart poster: a URI with information about it, as a message within a record (NFC Forum Smart Poster RTD 1.0 §3).
public struct NDEFSmartPoster: Hashable, Sendable {
    /// What to do with the URI.
    public struct Action: OpenSet {
        /// The byte of the record.
        public let rawValue: UInt8
        /// Wraps a byte.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Open it, call it, or send to it.
        public static let perform = Action(rawValue: 0)
        /// Save it for later.
        public static let save = Action(rawValue: 1)
        /// Open it for editing.
        public static let edit = Action(rawValue: 2)

        /// A word for the action, or its number.
        public var description: String {
            switch self {
            case .perform: "perform"
            case .save: "save"
            case .edit: "edit"
            default: "\(rawValue)"
            }
        }
    }

    /// The URI.
    public var uri: NDEFURI
    /// The titles, one per language.
    public var titles: [NDEFText]
    /// What to do with the URI.
    public var action: Action?
    /// The size of the resource, in bytes.
    public var size: UInt32?
    /// The media type of the resource.
    public var mediaType: String?
    /// Icons and all other records.
    public var others: [NDEFRecord]

    /// Creates a poster.
    public init(
        _ uri: NDEFURI, titles: [NDEFText] = [], action: Action? = nil, size: UInt32? = nil, mediaType: String? = nil,
        others: [NDEFRecord] = []
    ) {
        self.uri = uri
        self.titles = titles
        self.action = action
        self.size = size
        self.mediaType = mediaType
        self.others = others
    }
}

extension NDEFSmartPoster {
    /// Decodes the payload of a record of type `Sp`: exactly one URI, and other records in any order.
    public init(decoding payload: [UInt8]) throws(WireError) {
        let message = try NDEFMessage(decoding: payload)
        var found: [NDEFURI] = []
        self.init(NDEFURI(code: 0, rest: []))
        for record in message.records {
            guard record.format == .wellKnown else {
                others.append(record)
                continue
            }
            switch record.type {
            case Array("U".utf8): found.append(try NDEFURI(decoding: record.payload))
            case Array("T".utf8): titles.append(try NDEFText(decoding: record.payload))
            case Array("act".utf8): action = Action(rawValue: UInt8(try Self.number(record, 1)))
            case Array("s".utf8): size = try Self.number(record, 4)
            case Array("t".utf8): mediaType = String(decoding: record.payload, as: UTF8.self)
            default: others.append(record)
            }
        }
        guard let only = found.first else { throw WireError(.missing, at: 0, "a smart poster without a URI") }
        guard found.count == 1 else { throw WireError(.duplicate, at: 0, "a smart poster with several URIs") }
        uri = only
    }

    /// The payload of a record of type `Sp`.
    public func encoded() throws(WireError) -> [UInt8] {
        var records = [uri.record]
        for title in titles { records.append(try title.record()) }
        if let action { records.append(NDEFRecord(wellKnown: "act", payload: [action.rawValue])) }
        if let size {
            var writer = ByteWriter(capacity: 4)
            writer.bigEndian(UInt64(size), 4)
            records.append(NDEFRecord(wellKnown: "s", payload: writer.bytes))
        }
        if let mediaType { records.append(NDEFRecord(wellKnown: "t", payload: Array(mediaType.utf8))) }
        return try NDEFMessage(records + others).encoded()
    }

    /// The record that holds it.
    public func record() throws(WireError) -> NDEFRecord { NDEFRecord(wellKnown: "Sp", payload: try encoded()) }

    private static func number(_ record: NDEFRecord, _ count: Int) throws(WireError) -> UInt32 {
        var reader = ByteReader(record.payload)
        let number = UInt32(truncatingIfNeeded: try reader.bigEndian(count, "record \(record.typeName)"))
        try reader.finish("record \(record.typeName)")
        return number
    }
}
