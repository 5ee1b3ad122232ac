// SPDX-License-Identifier: Apache-2.0

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
