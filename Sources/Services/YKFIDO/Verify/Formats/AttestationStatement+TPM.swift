// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire
import YKX509

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
