// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// Whose word is taken for who a server is, over TLS.
public struct HTTPTrust: Hashable, Sendable {
    /// A file in PEM with the authorities that are trusted instead of the system's.
    public var authorities: String?
    /// The public keys of which the server has to have one; empty for any that an authority vouches for.
    public var pins: [HTTPPin]
    /// Whether the server's certificate is verified. Without that, only a pin tells who the server is.
    public var verifiesCertificate = true

    /// Trusts the system's authorities, or those of a file; with pins, the server has to have one of these keys besides.
    public init(authorities: String? = nil, pins: [HTTPPin] = []) {
        self.authorities = authorities
        self.pins = pins
    }
}

/// A server's public key, by the SHA-256 of its SubjectPublicKeyInfo (RFC 7469 §2.4).
public struct HTTPPin: Hashable, Sendable, CustomStringConvertible {
    /// The hash, 32 bytes.
    public let hash: [UInt8]

    /// Reads a pin: `sha256/` and the hash in base 64. Throws `malformed`.
    public init(_ text: String) throws(HTTPError) {
        let marks = ["sha256//", "sha256/", "sha256:"]
        let mark = marks.first { text.hasPrefix($0) } ?? ""
        guard let bytes = try? Base64.decode(String(text.dropFirst(mark.count))), bytes.count == 32 else {
            throw .malformed("a pin is sha256/ and 32 bytes in base 64")
        }
        hash = bytes
    }

    /// The pin of the key in a certificate; `nil` when the text is none.
    init?(pem: String) {
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        guard let bytes = try? Base64.decode(lines.joined()), let outer = try? TLV.list(bytes).first,
            let signed = try? TLV.list(outer.value).first, let fields = try? TLV.list(signed.value)
        else { return nil }
        // After the version, which may be absent: serial number, algorithm, issuer, validity, subject, key (RFC 5280 §4.1).
        let place = fields.first?.tag == 0xA0 ? 6 : 5
        guard fields.count > place else { return nil }
        hash = HashAlgorithm.sha256.hash(fields[place].encoded)
    }

    /// The pin as it is usually written.
    public var description: String { "sha256/" + Base64.encode(hash) }
}
