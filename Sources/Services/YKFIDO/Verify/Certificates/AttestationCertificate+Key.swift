// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

extension AttestationCertificate {
    /// The public key, to be used with an algorithm.
    func publicKey(for algorithm: COSEAlgorithm) throws(VerificationProblem) -> COSEKey {
        switch (fields.keyAlgorithm, fields.keyParameters) {
        case ("1.2.840.10045.2.1", "1.2.840.10045.3.1.7"?): try point(.p256, algorithm)
        case ("1.2.840.10045.2.1", "1.3.132.0.34"?): try point(.p384, algorithm)
        case ("1.2.840.10045.2.1", "1.3.132.0.35"?): try point(.p521, algorithm)
        case ("1.2.840.10045.2.1", "1.3.132.0.10"?): try point(.secp256k1, algorithm)
        case ("1.3.101.112", _): COSEKey(okp: .ed25519, algorithm: algorithm, x: fields.keyBytes)
        case ("1.3.101.113", _): COSEKey(okp: .ed448, algorithm: algorithm, x: fields.keyBytes)
        case ("1.2.840.113549.1.1.1", _): try rsa(algorithm)
        default: throw .certificate("a public key of type \(fields.keyAlgorithm)")
        }
    }

    private func point(_ curve: COSECurve, _ algorithm: COSEAlgorithm) throws(VerificationProblem) -> COSEKey {
        let size = curve.coordinateSize ?? 0
        let bytes = fields.keyBytes
        guard bytes.first == 0x04, bytes.count == 1 + 2 * size else { throw .badKey }
        return COSEKey(
            ec2: curve, algorithm: algorithm, x: Array(bytes.dropFirst().prefix(size)), y: Array(bytes.suffix(size)))
    }

    private func rsa(_ algorithm: COSEAlgorithm) throws(VerificationProblem) -> COSEKey {
        do {
            let (modulus, exponent) = try CertificateFields.rsaKey(fields.keyBytes)
            return COSEKey(rsaModulus: modulus, exponent: exponent, algorithm: algorithm)
        } catch {
            throw .badKey
        }
    }
}

extension AttestationCertificate {
    /// Checks that the key of another certificate signed this one. SHA-1 is refused unless it is allowed.
    func checkSignature(
        by issuer: AttestationCertificate, allowingSHA1: Bool = false
    ) throws(VerificationProblem) {
        guard let (hash, padding) = signatureForm else {
            throw .certificate("a signature of type \(fields.signatureAlgorithm)")
        }
        guard allowingSHA1 || hash != .sha1 else { throw .certificate("its signature is made with SHA-1") }
        let key = try issuer.verificationKey(hash ?? .sha256, padding)
        guard key.isValid(fields.signature, for: fields.signed) else {
            throw .certificate("its issuer did not sign it")
        }
    }

    /// The hash and RSA padding of the signature; no hash where the algorithm has its own.
    private var signatureForm: (HashAlgorithm?, VerificationKey.RSAPadding)? {
        switch fields.signatureAlgorithm {
        case "1.2.840.10045.4.1", "1.2.840.113549.1.1.5": (.sha1, .pkcs1)
        case "1.2.840.10045.4.3.2", "1.2.840.113549.1.1.11": (.sha256, .pkcs1)
        case "1.2.840.10045.4.3.3", "1.2.840.113549.1.1.12": (.sha384, .pkcs1)
        case "1.2.840.10045.4.3.4", "1.2.840.113549.1.1.13": (.sha512, .pkcs1)
        case "1.3.101.112", "1.3.101.113": (nil, .pkcs1)
        case "1.2.840.113549.1.1.10": Self.hashes[fields.signatureHash ?? "1.3.14.3.2.26"].map { ($0, .pss) }
        default: nil
        }
    }

    private static let hashes: [String: HashAlgorithm] = [
        "1.3.14.3.2.26": .sha1, "2.16.840.1.101.3.4.2.1": .sha256, "2.16.840.1.101.3.4.2.2": .sha384,
        "2.16.840.1.101.3.4.2.3": .sha512,
    ]

    private func verificationKey(
        _ hash: HashAlgorithm, _ padding: VerificationKey.RSAPadding
    ) throws(VerificationProblem) -> VerificationKey {
        let key = try publicKey(for: .es256)
        do throws(CryptoFault) {
            switch key.material {
            case .ec2(.p256, _, _): return try VerificationKey(ecdsa: .p256, point: fields.keyBytes, hash)
            case .ec2(.p384, _, _): return try VerificationKey(ecdsa: .p384, point: fields.keyBytes, hash)
            case .ec2(.p521, _, _): return try VerificationKey(ecdsa: .p521, point: fields.keyBytes, hash)
            case .okp(.ed25519, let x): return try VerificationKey(ed25519: x)
            case .okp(.ed448, let x): return try VerificationKey(ed448: x)
            case .rsa(let modulus, let exponent):
                return try VerificationKey(rsaModulus: modulus, exponent: exponent, hash, padding)
            default: break
            }
        } catch {
            throw .badKey
        }
        throw .certificate("an issuer's key of type \(fields.keyParameters ?? fields.keyAlgorithm)")
    }
}
