// SPDX-License-Identifier: Apache-2.0

/// A text and its language (NFC Forum Text RTD 1.0 §3.2).
public struct NDEFText: Hashable, Sendable {
    /// The encoding of the text.
    public enum Encoding: String, Hashable, Sendable, CaseIterable {
        /// UTF-8.
        case utf8 = "UTF-8"
        /// UTF-16, big-endian unless a byte order mark says otherwise (§3.4).
        case utf16 = "UTF-16"
    }

    /// The language (RFC 3066), such as `en`; empty when unspecified.
    public var language: String
    /// The text.
    public var text: String
    /// The encoding.
    public var encoding: Encoding

    /// Creates a text.
    public init(_ text: String, language: String = "en", encoding: Encoding = .utf8) {
        self.text = text
        self.language = language
        self.encoding = encoding
    }
}

extension NDEFText {
    /// Decodes the payload of a record of type `T`: a status byte, the language, the text.
    public init(decoding payload: [UInt8]) throws(WireError) {
        var reader = ByteReader(payload)
        let status = try reader.byte("the status of the text")
        let language = try reader.bytes(Int(status & 0x3F), "the language")
        guard language.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw WireError(.malformed, at: 1, "a language that is not ASCII")
        }
        let start = reader.offset
        let bytes = reader.rest()
        let encoding = status & 0x80 == 0 ? Encoding.utf8 : .utf16
        guard let text = encoding == .utf8 ? String(validating: bytes, as: UTF8.self) : Self.utf16(bytes) else {
            throw WireError(.malformed, at: start, "a text that is not valid \(encoding.rawValue)")
        }
        self.init(text, language: String(decoding: language, as: UTF8.self), encoding: encoding)
    }

    /// The payload of a record of type `T`; UTF-16 is big-endian without a byte order mark.
    ///
    /// - Throws: `tooLarge` for a language of more than 63 bytes.
    public func encoded() throws(WireError) -> [UInt8] {
        let tag = Array(language.utf8)
        guard tag.count <= 63 else { throw WireError(.tooLarge, at: 1, "a language has at most 63 bytes") }
        let status = UInt8(tag.count) | (encoding == .utf16 ? 0x80 : 0)
        return [status] + tag + (encoding == .utf8 ? Array(text.utf8) : utf16)
    }

    /// Big-endian; a text that would otherwise seem to start with a byte order mark gets one.
    private var utf16: [UInt8] {
        let mark: [UInt16] = [0xFEFF, 0xFFFE].contains(text.utf16.first) ? [0xFEFF] : []
        return (mark + text.utf16).flatMap { unit in
            [UInt8(truncatingIfNeeded: unit >> 8), UInt8(truncatingIfNeeded: unit)]
        }
    }

    /// The record that holds it.
    public func record() throws(WireError) -> NDEFRecord { NDEFRecord(wellKnown: "T", payload: try encoded()) }

    private static func utf16(_ bytes: [UInt8]) -> String? {
        guard bytes.count.isMultiple(of: 2) else { return nil }
        let isLittle = bytes.starts(with: [0xFF, 0xFE])
        let isMarked = isLittle || bytes.starts(with: [0xFE, 0xFF])
        var reader = ByteReader(Array(bytes.dropFirst(isMarked ? 2 : 0)))
        var units: [UInt16] = []
        while let unit = isLittle ? try? reader.littleEndian(2) : try? reader.bigEndian(2) {
            units.append(UInt16(truncatingIfNeeded: unit))
        }
        return String(validating: units, as: UTF16.self)
    }
}
