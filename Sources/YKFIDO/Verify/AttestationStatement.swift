// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// The statement of an attestation object, checked format by format.
struct AttestationStatement {
    let map: CBOR.Map

    init(_ map: CBOR.Map) { self.map = map }

    /// WebAuthn Level 3 §8.2.
    func packed(
        _ data: AuthenticatorData, _ credential: AuthenticatorData.AttestedCredential, _ clientDataHash: [UInt8]
    ) throws(VerificationProblem) -> AttestationVerification.Trust {
        guard let number = map["alg"]?.int else { throw .malformedStatement("no algorithm") }
        let algorithm = COSEAlgorithm(number)
        let message = data.bytes + clientDataHash
        guard map["x5c"] != nil else {
            guard credential.publicKey.algorithm == algorithm else {
                throw .malformedStatement("the algorithm is not the credential's")
            }
            try credential.publicKey.verify(try signature(), over: message)
            return .selfSigned
        }
        let chain = try certificates()
        guard let leaf = chain.first else { throw .malformedStatement("no certificate") }
        let certificate = try AttestationCertificate(der: leaf)
        try certificate.publicKey(for: algorithm).verify(try signature(), over: message)
        try certificate.checkPacked(aaguid: credential.aaguid)
        return .certificates(chain)
    }

    /// WebAuthn Level 3 §8.6.
    func u2f(
        _ data: AuthenticatorData, _ credential: AuthenticatorData.AttestedCredential, _ clientDataHash: [UInt8]
    ) throws(VerificationProblem) -> AttestationVerification.Trust {
        let chain = try certificates()
        guard chain.count == 1, let leaf = chain.first else { throw .malformedStatement("not one certificate") }
        guard credential.aaguid.allSatisfy({ $0 == 0 }) else { throw .malformedStatement("an AAGUID with U2F") }
        guard case .ec2(.p256, let x, let y) = credential.publicKey.material else { throw .badKey }
        let message = [0x00] + data.rpIDHash + clientDataHash + credential.id + [0x04] + x + y
        try AttestationCertificate(der: leaf).publicKey(for: .es256).verify(try signature(), over: message)
        return .certificates(chain)
    }

    /// WebAuthn Level 3 §8.8.
    func apple(
        _ data: AuthenticatorData, _ credential: AuthenticatorData.AttestedCredential, _ clientDataHash: [UInt8]
    ) throws(VerificationProblem) -> AttestationVerification.Trust {
        let chain = try certificates()
        guard let leaf = chain.first else { throw .malformedStatement("no certificate") }
        let certificate = try AttestationCertificate(der: leaf)
        let nonce = HashAlgorithm.sha256.hash(data.bytes + clientDataHash)
        guard let held = certificate.extensions["1.2.840.113635.100.8.2"]?.value, held.suffix(32) == nonce[...],
            held.count == 38
        else { throw .badSignature }
        let algorithm = credential.publicKey.algorithm ?? .es256
        guard try certificate.publicKey(for: algorithm).uncompressedPoint == credential.publicKey.uncompressedPoint,
            credential.publicKey.uncompressedPoint != nil
        else { throw .certificate("its key is not the credential's") }
        return .certificates(chain)
    }

    func signature() throws(VerificationProblem) -> [UInt8] {
        guard let signature = map["sig"]?.bytes else { throw .malformedStatement("no signature") }
        return signature
    }

    func certificates() throws(VerificationProblem) -> [[UInt8]] {
        guard let array = map["x5c"]?.array, !array.isEmpty else { throw .malformedStatement("no certificates") }
        let certificates = array.compactMap(\.bytes)
        guard certificates.count == array.count else { throw .malformedStatement("a certificate that is not bytes") }
        return certificates
    }
}
