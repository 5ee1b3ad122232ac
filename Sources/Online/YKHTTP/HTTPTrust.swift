// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKTransport
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

extension HTTPPin {
    /// The pin of the key in a certificate; `nil` when the text is not a certificate.
    init?(pem: String) {
        guard let der = PEM.contents("CERTIFICATE", in: Array(pem.utf8)).first,
            let certificate = try? X509Certificate(der: der)
        else { return nil }
        self.init(hash: HashAlgorithm.sha256.hash(certificate.subjectPublicKeyInfo.encoded))
    }
}
