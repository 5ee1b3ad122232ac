// SPDX-License-Identifier: Apache-2.0

import YKWire

/// A server's public key, by the SHA-256 of its SubjectPublicKeyInfo (RFC 7469 §2.4).
public struct HTTPPin: Hashable, Sendable, CustomStringConvertible {
    /// The hash, 32 bytes.
    public let hash: [UInt8]

    /// Parses a pin: `sha256/` and the hash in base64.
    ///
    /// - Throws: `malformed`.
    public init(_ text: String) throws(HTTPError) {
        // Base 64 may begin with a slash, so text that begins with sha256//, curl's prefix, can be read in two ways.
        let marks = ["sha256//", "sha256/", "sha256:"].filter { text.hasPrefix($0) }
        let hashes = (marks.isEmpty ? [""] : marks).compactMap { try? Base64.decode(String(text.dropFirst($0.count))) }
        guard let bytes = hashes.first(where: { $0.count == 32 }) else {
            throw .malformed("a pin is sha256/ and 32 bytes in base64")
        }
        hash = bytes
    }

    /// Wraps a hash of 32 bytes.
    package init(hash: [UInt8]) { self.hash = hash }

    /// The pin in its usual form.
    public var description: String { "sha256/" + Base64.encode(hash) }
}
