// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKWire

/// How a certificate is written.
enum CertificateFormat: String, CaseIterable, ExpressibleByArgument {
    case pem, der, ssh

    var isText: Bool { self != .der }

    /// The certificate in this form; for SSH its public key.
    func encode(_ certificate: PIVCertificate) throws(Explanation) -> [UInt8] {
        switch self {
        case .pem: return Array(certificate.pem.utf8)
        case .der: return certificate.der
        case .ssh:
            guard let key = certificate.publicKey else { throw .usage("SSH has no form for a key of this kind") }
            return try PublicKeyFormat.ssh.encode(key, comment: certificate.subject.printable)
        }
    }

    /// The same as a member of an answer.
    func json(_ certificate: PIVCertificate) throws(Explanation) -> JSON {
        let bytes = try encode(certificate)
        return .string(isText ? String(decoding: bytes, as: UTF8.self) : Base64.encodeURL(bytes))
    }
}
