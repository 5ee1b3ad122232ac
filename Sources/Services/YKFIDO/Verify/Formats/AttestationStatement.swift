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

    /// WebAuthn Level 3 §8.4: the certificate is the credential's own, issued for this challenge by Android's key
    /// store, for a key that was generated there, signs, and belongs to one application.
    func androidKey() throws(VerificationProblem) -> AttestationVerification.Trust {
        let chain = try certificates()
        let key = try chain[0].publicKey(for: try algorithm())
        try key.verify(try signature(), over: message, allowingSHA1: allowsSHA1)
        guard key.material == credential.publicKey.material else {
            throw .certificate("its key is not the credential's")
        }
        guard let value = chain[0].extensions["1.3.6.1.4.1.11129.2.1.17"]?.value,
            let description = try? AndroidKeyDescription(value)
        else { throw .certificate("it does not describe the key") }
        guard description.challenge == clientDataHash else { throw .certificate("it was made for another challenge") }
        guard !description.isForAllApplications else { throw .certificate("the key is for all applications") }
        guard description.origins == [AndroidKeyDescription.generated] else {
            throw .certificate("the key was not made in the key store")
        }
        guard description.purposes.contains(AndroidKeyDescription.sign) else {
            throw .certificate("the key is not for signing")
        }
        return .certificates(chain.map(\.der))
    }
}

/// The key description by Android's key store (Android Keystore, key attestation, KeyDescription), as far as WebAuthn
/// uses it.
struct AndroidKeyDescription {
    /// attestationChallenge.
    let challenge: [UInt8]
    /// Whether either list has allApplications, tag 600.
    let isForAllApplications: Bool
    /// origin, tag 702, of both lists.
    let origins: Set<Int>
    /// purpose, tag 1, of both lists.
    let purposes: Set<Int>

    /// KM_ORIGIN_GENERATED.
    static let generated = 0
    /// KM_PURPOSE_SIGN.
    static let sign = 2

    init(_ value: [UInt8]) throws(WireError) {
        var outer = ByteReader(value)
        var fields = try outer.der(0x30, "the key description")
        try outer.finish("the key description")
        // Version and security level of the attestation and of the key store.
        for _ in 0..<4 { _ = try fields.der() }
        challenge = try fields.derOctets("the challenge")
        _ = try fields.derOctets("the unique identifier")
        var entries: [TLV] = []
        for _ in 0..<2 {
            var list = try fields.der(0x30, "an authorization list")
            entries += try list.derObjects()
        }
        isForAllApplications = entries.contains { $0.tag == 0xBF8458 }
        var origins: Set<Int> = []
        for entry in entries where entry.tag == 0xBF853E {
            var content = ByteReader(entry.value)
            origins.insert(try content.derNumber("the origin"))
        }
        self.origins = origins
        var purposes: Set<Int> = []
        for entry in entries where entry.tag == 0xA1 {
            var content = ByteReader(entry.value)
            var list = try content.der(0x31, "the purposes")
            while !list.isAtEnd { purposes.insert(try list.derNumber("a purpose")) }
        }
        self.purposes = purposes
    }
}

extension AttestationStatement {
    /// WebAuthn Level 3 §8.3: a TPM certified the key, and signed the hash of the attested data with it.
    func tpm() throws(VerificationProblem) -> AttestationVerification.Trust {
        guard map["ver"]?.text == "2.0" else { throw .malformedStatement("not of TPM 2.0") }
        let algorithm = try algorithm()
        let (area, certification, signed) = try tpmStructures()
        guard area.isKey(credential.publicKey) else {
            throw .malformedStatement("the TPM's key is not the credential's")
        }
        guard let hash = algorithm.hash, certification.extraData == hash.hash(message) else {
            throw .malformedStatement("the TPM certified for another challenge")
        }
        guard let name = TPMName(of: area), certification.name == name else {
            throw .malformedStatement("the TPM certified another key")
        }
        let chain = try certificates()
        try chain[0].publicKey(for: algorithm).verify(try signature(), over: signed, allowingSHA1: allowsSHA1)
        try chain[0].checkTPM(aaguid: credential.aaguid)
        return .certificates(chain.map(\.der))
    }

    private func tpmStructures() throws(VerificationProblem) -> (TPMPublicArea, TPMCertification, [UInt8]) {
        guard let area = map["pubArea"]?.bytes, let info = map["certInfo"]?.bytes else {
            throw .malformedStatement("pubArea or certInfo is missing")
        }
        do {
            return (try TPMPublicArea(decoding: area), try TPMCertification(decoding: info), info)
        } catch {
            throw .malformedStatement("\(error)")
        }
    }
}
