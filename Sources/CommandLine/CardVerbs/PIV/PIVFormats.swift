// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import YKAge
import YKCrypto
import YKPIV
import YKSSH
import YKWire
import YKX509

/// The format of a public key.
enum PublicKeyFormat: String, CaseIterable, ExpressibleByArgument {
    case pem, der, ssh, age

    var isText: Bool { self != .der }

    /// Encodes the key in this format. SSH does not support X25519; age supports only X25519 and P-256.
    func encode(_ key: PublicKey, comment: String) throws(Explanation) -> [UInt8] {
        switch self {
        case .pem: return Array(key.pem.utf8)
        case .der: return key.subjectPublicKeyInfo
        case .ssh:
            guard let text = SSHPublicKey(key)?.line(comment: comment) else {
                throw .usage("SSH has no format for X25519 keys", hint: "--format age, or --format pem")
            }
            return Array((text + "\n").utf8)
        case .age:
            guard let recipient = AgePublicKey(key)?.recipient else {
                throw .usage("an age recipient must be an X25519 or P-256 key", hint: "use --format ssh for other keys")
            }
            return Array((recipient.text() + "\n").utf8)
        }
    }

    /// Returns the encoding as text: DER in base64url, a line without its end.
    func text(of bytes: [UInt8]) -> String {
        switch self {
        case .pem: String(decoding: bytes, as: UTF8.self)
        case .der: Base64.encodeURL(bytes)
        case .ssh, .age: String(decoding: bytes, as: UTF8.self).trimmed
        }
    }
}

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
            guard let key = certificate.publicKey else { throw .usage("SSH has no format for a key of this type") }
            return try PublicKeyFormat.ssh.encode(key, comment: certificate.subject.description.printable)
        }
    }

    /// Returns the encoding as text: DER in base64url.
    func text(of bytes: [UInt8]) -> String {
        isText ? String(decoding: bytes, as: UTF8.self) : Base64.encodeURL(bytes)
    }
}

/// The format of a signature.
enum SignatureFormat: String, CaseIterable, ExpressibleByArgument {
    /// The format of X.509 and OpenSSL.
    case der
    /// For ECDSA, two numbers of equal length (IEEE P1363, JWS); other signatures unchanged.
    case raw
    /// DER in base64.
    case base64

    /// Encodes the signature in this format.
    func encode(_ signature: [UInt8], _ algorithm: PIVAlgorithm) throws(Explanation) -> [UInt8] {
        self == .base64 ? Array((Base64.encode(signature) + "\n").utf8) : try bytes(of: signature, algorithm)
    }

    /// Returns the bytes of the signature: two numbers, or unchanged from the key.
    func bytes(of signature: [UInt8], _ algorithm: PIVAlgorithm) throws(Explanation) -> [UInt8] {
        try bytes(of: signature, size: algorithm.curve?.fieldSize)
    }

    /// Encodes the signature of a key in this format.
    func encode(_ signature: [UInt8], of key: PublicKey) throws(Explanation) -> [UInt8] {
        self == .base64 ? Array((Base64.encode(signature) + "\n").utf8) : try bytes(of: signature, key)
    }

    /// Returns the bytes of a key's signature.
    func bytes(of signature: [UInt8], _ key: PublicKey) throws(Explanation) -> [UInt8] {
        let size: Int? = if case .ec(let curve, _) = key { curve.fieldSize } else { nil }
        return try bytes(of: signature, size: size)
    }

    private func bytes(of signature: [UInt8], size: Int?) throws(Explanation) -> [UInt8] {
        guard self == .raw, let size else { return signature }
        guard let numbers = try? TLV.list(TLV.list(signature).value(0x30) ?? []), numbers.count == 2 else {
            throw Explanation.malformed("the key's signature is not a valid ECDSA signature")
        }
        return numbers.flatMap { $0.value.padded(to: size) }
    }
}
