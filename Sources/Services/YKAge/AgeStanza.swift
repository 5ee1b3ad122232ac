// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Why age data could not be read, created or accepted.
public enum AgeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It violates the format; the reason.
    case malformed(String)
    /// A cryptographic operation refused a key; the reason.
    case refused(String)
    /// The other side of the plugin protocol closed the connection or violated the protocol; the reason.
    case connection(String)

    /// A readable description.
    public var description: String {
        switch self {
        case .malformed(let words), .refused(let words), .connection(let words): words
        }
    }
}

/// A stanza: a wrapped file key in the header of an age file, or a message of the plugin protocol (C2SP age.md and
/// age-plugin.md).
public struct AgeStanza: Hashable, Sendable {
    /// The type of a recipient stanza, or the command of a message.
    public var type: String
    /// The other words on its first line.
    public var arguments: [String]
    /// The body.
    public var body: [UInt8]

    /// Creates a stanza. Type and arguments consist of visible ASCII characters.
    public init(_ type: String, _ arguments: [String] = [], body: [UInt8] = []) {
        (self.type, self.arguments, self.body) = (type, arguments, body)
    }

    /// The stanza as text: `-> type arguments`, and the body in base64 in lines of 64 characters; the last line is
    /// shorter.
    public var encoded: [UInt8] {
        var text = Array("->".utf8)
        for word in [type] + arguments { text += Array(" ".utf8) + Array(word.utf8) }
        text.append(Self.newline)
        let body = Array(Base64.encode(body, padded: false).utf8)
        for start in stride(from: 0, through: body.count, by: Self.width) {
            text += body[start..<min(start + Self.width, body.count)]
            text.append(Self.newline)
        }
        return text
    }

    static let width = 64
    private static let newline = UInt8(ascii: "\n")

    /// Decodes age's base64: standard alphabet, without padding, canonical. `nil` for any other string.
    static func base64(_ text: String) -> [UInt8]? {
        guard let bytes = try? Base64.decode(text), Base64.encode(bytes, padded: false) == text else { return nil }
        return bytes
    }
}

/// Assembles stanzas from the lines of a connection.
public struct AgeStanzaReader: Sendable {
    /// Maximum length of a line, in bytes.
    public static let lineLimit = 16384
    /// Maximum length of a body, in bytes.
    public static let bodyLimit = 1 << 16
    /// Maximum number of words on the first line.
    public static let wordLimit = 64

    private var stanza: AgeStanza?

    /// Creates a reader that waits for the first line of a stanza.
    public init() {}

    /// Whether a stanza is incomplete.
    public var isInside: Bool { stanza != nil }

    /// Reads the next line, without its terminator.
    ///
    /// - Returns: The stanza that ends with this line; `nil` when more lines follow.
    /// - Throws: ``AgeError/malformed(_:)``.
    public mutating func take(_ line: [UInt8]) throws(AgeError) -> AgeStanza? {
        guard line.count <= Self.lineLimit else { throw .malformed("a line of more than \(Self.lineLimit) bytes") }
        guard line.allSatisfy({ (0x20...0x7E).contains($0) }) else { throw .malformed("a line that is not ASCII") }
        let text = String(decoding: line, as: UTF8.self)
        guard var stanza else {
            self.stanza = try Self.first(text)
            return nil
        }
        guard line.count <= AgeStanza.width, let bytes = AgeStanza.base64(text) else {
            throw .malformed("a line of a body that is not base64 without padding")
        }
        guard stanza.body.count + bytes.count <= Self.bodyLimit else {
            throw .malformed("a body of more than \(Self.bodyLimit) bytes")
        }
        stanza.body += bytes
        let isLast = line.count < AgeStanza.width
        self.stanza = isLast ? nil : stanza
        return isLast ? stanza : nil
    }

    private static func first(_ line: String) throws(AgeError) -> AgeStanza {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.first == "->", words.count >= 2, !words.contains("") else {
            throw .malformed("a stanza that does not begin with '-> ' and a type")
        }
        guard words.count <= wordLimit else { throw .malformed("a stanza with more than \(wordLimit) words") }
        return AgeStanza(words[1], Array(words[2...]))
    }
}
