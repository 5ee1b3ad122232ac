// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire
import YKX509

/// How a server is authenticated over TLS.
public struct HTTPTrust: Hashable, Sendable {
    /// A PEM file of authorities to trust instead of the system's.
    public var authorities: String?
    /// The accepted public keys of the server; empty to accept any key that an authority certifies.
    public var pins: [HTTPPin]
    /// Whether the server's certificate is verified. If not, only a pin authenticates the server.
    public var verifiesCertificate = true

    /// Trusts the system's authorities, or those in a file; with pins, the server must also have one of these keys.
    public init(authorities: String? = nil, pins: [HTTPPin] = []) {
        self.authorities = authorities
        self.pins = pins
    }
}

/// A server's public key, by the SHA-256 of its SubjectPublicKeyInfo (RFC 7469 §2.4).
public struct HTTPPin: Hashable, Sendable, CustomStringConvertible {
    /// The hash, 32 bytes.
    public let hash: [UInt8]

    /// Parses a pin: `sha256/` and the hash in base 64.
    ///
    /// - Throws: `malformed`.
    public init(_ text: String) throws(HTTPError) {
        // Base 64 may begin with a slash: behind curl's mark, sha256//, stand 32 bytes as well.
        let marks = ["sha256//", "sha256/", "sha256:"].filter { text.hasPrefix($0) }
        let hashes = (marks.isEmpty ? [""] : marks).compactMap { try? Base64.decode(String(text.dropFirst($0.count))) }
        guard let bytes = hashes.first(where: { $0.count == 32 }) else {
            throw .malformed("a pin is sha256/ and 32 bytes in base 64")
        }
        hash = bytes
    }

    /// The pin of the key in a certificate; `nil` when the text is not a certificate.
    init?(pem: String) {
        guard let der = PEM.contents("CERTIFICATE", in: Array(pem.utf8)).first,
            let certificate = try? X509Certificate(der: der)
        else { return nil }
        hash = HashAlgorithm.sha256.hash(certificate.subjectPublicKeyInfo.encoded)
    }

    /// The pin in its usual form.
    public var description: String { "sha256/" + Base64.encode(hash) }
}
