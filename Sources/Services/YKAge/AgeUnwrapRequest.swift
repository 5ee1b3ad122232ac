// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire

/// The key that an agent is asked to unwrap with.
public enum AgeAgentKey: Hashable, Sendable {
    /// A key in a slot.
    case key(AgePublicKey)
    /// A P-256 key by its tag (``AgePublicKey/tag``), for identities of age-plugin-yubikey.
    case tag([UInt8])

    /// Returns whether this identifies the given key.
    public func isKey(_ key: AgePublicKey) -> Bool {
        switch self {
        case .key(let wanted): wanted == key
        case .tag(let tag): if case .p256 = key { key.tag == tag } else { false }
        }
    }

    /// Returns whether a stanza may be for this key: a P-256 key recognizes its stanzas, an X25519 key must try each.
    public func fits(_ wrapping: AgeWrapping) -> Bool {
        switch (wrapping, self) {
        case (.x25519, .key(.x25519)): true
        case (.pivP256, .key(.p256(let point))), (.p256tag, .key(.p256(let point))):
            wrapping.isTagged(for: AgePublicKey.p256(point).tag)
        case (.pivP256, .tag(let tag)), (.p256tag, .tag(let tag)): wrapping.isTagged(for: tag)
        default: false
        }
    }
}

/// A request to an SSH agent to unwrap a file key: the content of an extension of the agent protocol
/// (draft-ietf-sshm-ssh-agent §3.8).
///
/// Two strings (RFC 4251 §5): the public key of 32 or 33 bytes or a tag of four, and the stanza as text. Without a
/// stanza the agent says only whether it holds the key.
public struct AgeUnwrapRequest: Hashable, Sendable {
    /// The name of the extension.
    public static let name = "age-unwrap@ykit.dev"

    /// The key.
    public let key: AgeAgentKey
    /// The wrapped file key; `nil` to ask only whether the agent holds the key.
    public let wrapping: AgeWrapping?

    /// Creates a request.
    public init(_ key: AgeAgentKey, _ wrapping: AgeWrapping? = nil) { (self.key, self.wrapping) = (key, wrapping) }

    /// The content of the message.
    public var bytes: [UInt8] {
        let key: [UInt8] =
            switch key {
            case .key(let key): key.bytes
            case .tag(let tag): tag
            }
        return Self.string(key) + Self.string(wrapping?.stanza.encoded ?? [])
    }

    private static func string(_ bytes: [UInt8]) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bytes.count >> $0) } + bytes
    }

    /// Reads the content of a message.
    ///
    /// - Throws: ``AgeError`` if the content is malformed, or the stanza cannot be for the key.
    public init(_ content: [UInt8]) throws(AgeError) {
        var reader = ByteReader(content)
        let key = try Self.string(&reader, "the key")
        let text = try Self.string(&reader, "the stanza")
        guard reader.isAtEnd else { throw .malformed("\(reader.remaining) bytes after the stanza") }
        self.key = key.count == 4 ? .tag(key) : .key(try AgePublicKey(bytes: key))
        guard !text.isEmpty else {
            wrapping = nil
            return
        }
        guard let wrapping = try AgeWrapping(Self.stanza(text)), self.key.fits(wrapping) else {
            throw .malformed("a stanza that is not for the key")
        }
        self.wrapping = wrapping
    }

    private static func string(_ reader: inout ByteReader, _ what: String) throws(AgeError) -> [UInt8] {
        do {
            let count = try reader.uint32("the length of \(what)")
            guard count <= UInt32(clamping: reader.remaining) else {
                throw WireError(
                    .truncated, at: reader.offset, "\(what) has \(count) bytes, but only \(reader.remaining) are left")
            }
            return try reader.bytes(Int(count), what)
        } catch { throw .malformed("\(error)") }
    }

    private static func stanza(_ text: [UInt8]) throws(AgeError) -> AgeStanza {
        guard text.last == UInt8(ascii: "\n") else { throw .malformed("an unterminated stanza") }
        var reader = AgeStanzaReader()
        var found: AgeStanza?
        for line in text.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            guard found == nil else { throw .malformed("more than one stanza") }
            found = try reader.take(Array(line))
        }
        guard let found else { throw .malformed("an unterminated stanza") }
        return found
    }
}

/// An agent's answer: one byte, followed by the file key if the byte is 1.
public enum AgeUnwrapAnswer: Sendable {
    /// Without a stanza in the request: the agent holds the key. Otherwise the stanza is for another key.
    case key
    /// The file key.
    case fileKey(SharedSecret)

    /// Calls `body` with the content of the message, and wipes it.
    public func withBytes<Value>(_ body: ([UInt8]) -> Value) -> Value {
        guard case .fileKey(let key) = self else { return body([0]) }
        var bytes = [1] + key.value.copyBytes()
        defer { Secret.wipe(&bytes) }
        return body(bytes)
    }

    /// Reads the content of a message; `nil` if it is malformed.
    public init?(_ content: [UInt8]) {
        switch (content.first, content.count) {
        case (0, 1): self = .key
        case (1, 1 + AgeWrapping.fileKeySize): self = .fileKey(SharedSecret(Secret(content.dropFirst())))
        default: return nil
        }
    }
}
