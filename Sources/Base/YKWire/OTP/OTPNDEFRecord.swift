// SPDX-License-Identifier: Apache-2.0

/// The NDEF record that a key provides over NFC, followed by a slot's token, in the form in which it is written:
/// length, kind, and up to 54 bytes (NFC Forum URI RTD §3.2, Text RTD §3.2).
public enum OTPNDEFRecord: Hashable, Sendable {
    /// A URI.
    case uri(String)
    /// A text and its language.
    case text(String, language: String)

    /// The default of a new key.
    public static let standard = OTPNDEFRecord.uri("https://my.yubico.com/yk/#")
    /// The maximum size of the content, in bytes: the prefix code and the rest of a URI, or a text with its language.
    public static let contentLimit = 54
    /// The written size, in bytes.
    public static let size = 2 + contentLimit

    /// The kind: the type of the NDEF record.
    public var kind: UInt8 {
        switch self {
        case .uri: 0x55
        case .text: 0x54
        }
    }

    /// The content of the record: the prefix code and the rest of the URI, or language and text. The first matching
    /// prefix is used, as in other programs, though a later one may be longer.
    public var content: [UInt8] {
        switch self {
        case .uri(let address):
            let found = NDEFURI.prefixes.enumerated().dropFirst().first { address.hasPrefix($0.element) }
            let rest = address.utf8.dropFirst(found?.element.utf8.count ?? 0)
            return [UInt8(truncatingIfNeeded: found?.offset ?? 0)] + Array(rest)
        case .text(let text, let language):
            let language = Array(language.utf8.prefix(63))
            return [UInt8(language.count)] + language + Array(text.utf8)
        }
    }

    /// The bytes to write.
    ///
    /// - Throws: `tooLarge` for content of more than 54 bytes.
    public func encoded() throws(WireError) -> [UInt8] {
        let content = content
        guard content.count <= Self.contentLimit else {
            throw WireError(.tooLarge, at: Self.contentLimit, "\(content.count) bytes for NDEF, 54 fit")
        }
        let filling = [UInt8](repeating: 0, count: Self.contentLimit - content.count)
        return [UInt8(content.count), kind] + content + filling
    }

    /// Decodes the written bytes.
    ///
    /// - Throws: `malformed` for text that is not UTF-8, and for unknown codes and kinds.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        let length = Int(try reader.byte("the length"))
        let kind = try reader.byte("the kind")
        guard length <= Self.contentLimit else {
            throw WireError(.tooLarge, at: 0, "\(length) bytes for NDEF, 54 fit")
        }
        try self.init(kind: kind, content: try reader.bytes(length, "the content"))
    }

    /// Decodes kind and content.
    public init(kind: UInt8, content: [UInt8]) throws(WireError) {
        var reader = ByteReader(content)
        switch kind {
        case 0x55:
            let code = Int(try reader.byte("the prefix code"))
            guard NDEFURI.prefixes.indices.contains(code) else {
                throw WireError(.malformed, at: 0, "prefix code \(code)")
            }
            self = .uri(NDEFURI.prefixes[code] + (try Self.text(reader.rest())))
        case 0x54:
            let length = Int(try reader.byte("the status")) & 0x3F
            let language = try Self.text(try reader.bytes(length, "the language"))
            self = .text(try Self.text(reader.rest()), language: language)
        default: throw WireError(.malformed, at: 0, "NDEF of kind \(Hex.encode([kind]))")
        }
    }

    private static func text(_ bytes: [UInt8]) throws(WireError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw WireError(.malformed, at: 0, "not UTF-8")
        }
        return text
    }
}
