// SPDX-License-Identifier: Apache-2.0

/// One record of a message: a payload and what it is (NFC Forum NDEF 1.0 §3.2).
public struct NDEFRecord: Hashable, Sendable {
    /// How the type of a record is to be understood (§3.2.6).
    public enum Format: UInt8, Hashable, Sendable, CaseIterable {
        /// There is nothing in the record.
        case empty = 0
        /// A type that the NFC Forum defines, such as `U`.
        case wellKnown = 1
        /// A media type (RFC 2046).
        case media = 2
        /// The type is the absolute URI itself (RFC 3986).
        case absoluteURI = 3
        /// A type of somebody's own, `example.com:name`.
        case external = 4
        /// Nobody says what it is.
        case unknown = 5
        /// A chunk after the first; never the format of a whole record.
        case unchanged = 6
        /// Kept for the future; treated as unknown.
        case reserved = 7
    }

    /// How the type is to be understood.
    public var format: Format
    /// The type, at most 255 bytes of ASCII.
    public var type: [UInt8]
    /// The record's name in the message, at most 255 bytes; empty for none.
    public var id: [UInt8]
    /// The content.
    public var payload: [UInt8]

    /// Makes a record.
    public init(_ format: Format, type: [UInt8] = [], id: [UInt8] = [], payload: [UInt8] = []) {
        self.format = format
        self.type = type
        self.id = id
        self.payload = payload
    }

    /// Makes a record of a type that the NFC Forum defines.
    public init(wellKnown type: String, payload: [UInt8]) {
        self.init(.wellKnown, type: Array(type.utf8), payload: payload)
    }

    /// The type as text; bytes that are no text become the replacement character.
    public var typeName: String { String(decoding: type, as: UTF8.self) }
}
