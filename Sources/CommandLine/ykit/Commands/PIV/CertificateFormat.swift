// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKWire
import YKX509

/// The format of a certificate.
enum CertificateFormat: String, CaseIterable, ExpressibleByArgument {
    case pem, der, ssh

    var isText: Bool { self != .der }

    /// Encodes the certificate in this format; for SSH, encodes its public key.
    func encode(_ certificate: X509Certificate) throws(Explanation) -> [UInt8] {
        switch self {
        case .pem: return Array(certificate.pem.utf8)
        case .der: return certificate.der
        case .ssh:
            guard let key = certificate.publicKey else { throw .usage("SSH has no form for a key of this kind") }
            return try PublicKeyFormat.ssh.encode(key, comment: certificate.subject.description.printable)
        }
    }

    /// Returns the encoding as a member of an answer.
    func json(_ certificate: X509Certificate) throws(Explanation) -> JSON {
        let bytes = try encode(certificate)
        return .string(isText ? String(decoding: bytes, as: UTF8.self) : Base64.encodeURL(bytes))
    }
}
