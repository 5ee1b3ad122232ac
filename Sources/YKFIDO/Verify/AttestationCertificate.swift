// SPDX-License-Identifier: Apache-2.0

import SwiftASN1
import YKWire

/// As much of an X.509 certificate (RFC 5280 §4.1) as attestation needs.
public struct AttestationCertificate: Sendable {
    /// Version, 3 for a certificate with extensions.
    public let version: Int
    /// The subject's attributes by object identifier, such as `2.5.4.3`, in order.
    public let subject: [(type: String, value: String)]
    /// The extensions by object identifier.
    let extensions: [String: (isCritical: Bool, value: [UInt8])]
    /// The algorithm and parameters of the public key, by object identifier.
    let keyAlgorithm: String
    let keyParameters: String?
    let keyBytes: [UInt8]

    /// Reads a certificate; what cannot be read throws `certificate`.
    public init(der: [UInt8]) throws(VerificationProblem) {
        do {
            let fields = try CertificateFields(der)
            version = fields.version
            subject = fields.subject
            extensions = fields.extensions
            keyAlgorithm = fields.keyAlgorithm
            keyParameters = fields.keyParameters
            keyBytes = fields.keyBytes
        } catch {
            throw .certificate("cannot be read: \(error)")
        }
    }

    /// The public key, to be used with an algorithm.
    func publicKey(for algorithm: COSEAlgorithm) throws(VerificationProblem) -> COSEKey {
        switch (keyAlgorithm, keyParameters) {
        case ("1.2.840.10045.2.1", "1.2.840.10045.3.1.7"?): try point(.p256, algorithm)
        case ("1.2.840.10045.2.1", "1.3.132.0.34"?): try point(.p384, algorithm)
        case ("1.2.840.10045.2.1", "1.3.132.0.35"?): try point(.p521, algorithm)
        case ("1.3.101.112", _): COSEKey(okp: .ed25519, algorithm: algorithm, x: keyBytes)
        case ("1.2.840.113549.1.1.1", _): try rsa(algorithm)
        default: throw .certificate("a public key of type \(keyAlgorithm)")
        }
    }

    private func point(_ curve: COSECurve, _ algorithm: COSEAlgorithm) throws(VerificationProblem) -> COSEKey {
        let size = curve.coordinateSize ?? 0
        guard keyBytes.first == 0x04, keyBytes.count == 1 + 2 * size else { throw .badKey }
        return COSEKey(
            ec2: curve, algorithm: algorithm, x: Array(keyBytes.dropFirst().prefix(size)),
            y: Array(keyBytes.suffix(size)))
    }

    private func rsa(_ algorithm: COSEAlgorithm) throws(VerificationProblem) -> COSEKey {
        do {
            let (modulus, exponent) = try CertificateFields.rsaKey(keyBytes)
            return COSEKey(rsaModulus: modulus, exponent: exponent, algorithm: algorithm)
        } catch {
            throw .badKey
        }
    }

    /// The rules of WebAuthn Level 3 §8.2.1.
    func checkPacked(aaguid: [UInt8]) throws(VerificationProblem) {
        guard version == 3 else { throw .certificate("version \(version), expected 3") }
        func attribute(_ type: String) -> String? { subject.first { $0.type == type }?.value }
        guard attribute("2.5.4.11") == "Authenticator Attestation" else {
            throw .certificate("its unit is not “Authenticator Attestation”")
        }
        guard attribute("2.5.4.6")?.utf8.count == 2, attribute("2.5.4.10")?.isEmpty == false,
            attribute("2.5.4.3")?.isEmpty == false
        else { throw .certificate("country, organisation or name is missing") }
        guard let constraints = extensions["2.5.29.19"]?.value, !constraints.contains([0x01, 0x01, 0xFF]) else {
            throw .certificate("it is, or does not say that it is not, a certificate authority")
        }
        guard let model = extensions["1.3.6.1.4.1.45724.1.1.4"] else { return }
        guard !model.isCritical, model.value == [0x04, 0x10] + aaguid else {
            throw .certificate("it is for another model of key")
        }
    }
}
