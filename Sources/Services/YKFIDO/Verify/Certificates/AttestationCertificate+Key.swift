// SPDX-License-Identifier: Apache-2.0

import YKCrypto
package import YKWire

extension AttestationCertificate {
    /// The public key, for use with an algorithm.
    package func publicKey(for algorithm: COSEAlgorithm) throws(VerificationProblem) -> COSEKey {
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

    /// SHA-1 of the public key's bits (RFC 5280 §4.2.1.2, method 1), by which metadata identifies the models of U2F
    /// keys.
    package var keyIdentifier: [UInt8] { HashAlgorithm.sha1.hash(fields.keyBytes) }

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
