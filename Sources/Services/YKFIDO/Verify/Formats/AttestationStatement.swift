// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire
import YKX509

/// The statement of an attestation object, verified format by format.
struct AttestationStatement {
    let map: CBOR.Map
    let data: AuthenticatorData
    let credential: AuthenticatorData.AttestedCredential
    let clientDataHash: [UInt8]
    var allowsSHA1 = false

    /// The attested bytes.
    var message: [UInt8] { data.bytes + clientDataHash }

    func algorithm() throws(VerificationProblem) -> COSEAlgorithm {
        guard let number = map["alg"]?.int else { throw .malformedStatement("no algorithm") }
        return COSEAlgorithm(number)
    }

    func signature() throws(VerificationProblem) -> [UInt8] {
        guard let signature = map["sig"]?.bytes else { throw .malformedStatement("no signature") }
        return signature
    }

    /// The certificates, at least one.
    ///
    /// - Parameter isU2F: Whether they are those of U2F keys, some of which have faulty ones.
    func certificates(isU2F: Bool = false) throws(VerificationProblem) -> [X509Certificate] {
        guard let array = map["x5c"]?.array, !array.isEmpty else { throw .malformedStatement("no certificates") }
        guard array.count <= CertificatePath.limit else { throw .malformedStatement("\(array.count) certificates") }
        var certificates: [X509Certificate] = []
        for entry in array {
            guard let der = entry.bytes else { throw .malformedStatement("a certificate that is not a byte string") }
            certificates.append(
                try isU2F ? X509Certificate(attestingU2F: der) : X509Certificate(attesting: der))
        }
        return certificates
    }
}

extension AttestationStatement {
    /// WebAuthn Level 3 §8.2.
    func packed() throws(VerificationProblem) -> AttestationVerification.Trust {
        let algorithm = try algorithm()
        guard map["x5c"] != nil else {
            guard credential.publicKey.algorithm == algorithm else {
                throw .malformedStatement("the algorithm is not the credential's")
            }
            try credential.publicKey.verify(try signature(), over: message, allowingSHA1: allowsSHA1)
            return .selfSigned
        }
        let chain = try certificates()
        try chain[0].publicKey(for: algorithm).verify(try signature(), over: message, allowingSHA1: allowsSHA1)
        try chain[0].checkPacked(aaguid: credential.aaguid)
        return .certificates(chain.map(\.der))
    }

    /// WebAuthn Level 3 §8.6.
    func u2f() throws(VerificationProblem) -> AttestationVerification.Trust {
        let chain = try certificates(isU2F: true)
        guard chain.count == 1 else { throw .malformedStatement("expected exactly one certificate") }
        guard credential.aaguid.allSatisfy({ $0 == 0 }) else { throw .malformedStatement("U2F with a nonzero AAGUID") }
        guard case .ec2(.p256, let x, let y) = credential.publicKey.material else {
            throw .badKey("it is not on P-256")
        }
        let key = try chain[0].publicKey(for: .es256)
        guard case .ec2(.p256, _, _) = key.material else { throw .certificate("its key is not on P-256") }
        let message = [0x00] + data.rpIDHash + clientDataHash + credential.id + [0x04] + x + y
        try key.verify(try signature(), over: message)
        return .certificates(chain.map(\.der))
    }

    /// WebAuthn Level 3 §8.8: the certificate holds the nonce, in a sequence as field 1.
    func apple() throws(VerificationProblem) -> AttestationVerification.Trust {
        let chain = try certificates()
        let nonce = HashAlgorithm.sha256.hash(message)
        guard chain[0].extensions["1.2.840.113635.100.8.2"]?.value == [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20] + nonce
        else {
            throw .certificate("it was made for another challenge")
        }
        let key = try chain[0].publicKey(for: credential.publicKey.algorithm ?? .es256)
        guard key.material == credential.publicKey.material else {
            throw .certificate("its key is not the credential's")
        }
        return .certificates(chain.map(\.der))
    }
}
