// SPDX-License-Identifier: Apache-2.0

import SwiftASN1
import YKWire

extension AttestationStatement {
    /// WebAuthn Level 3 §8.4, as far as the challenge, the key and the signature go; what the key store promises of
    /// the key (its authorisation lists) is not judged.
    func androidKey(
        _ data: AuthenticatorData, _ credential: AuthenticatorData.AttestedCredential, _ clientDataHash: [UInt8]
    ) throws(VerificationProblem) -> AttestationVerification.Trust {
        guard let number = map["alg"]?.int else { throw .malformedStatement("no algorithm") }
        let chain = try certificates()
        guard let leaf = chain.first else { throw .malformedStatement("no certificate") }
        let certificate = try AttestationCertificate(der: leaf)
        let key = try certificate.publicKey(for: COSEAlgorithm(number))
        try key.verify(try signature(), over: data.bytes + clientDataHash)
        guard key.material == credential.publicKey.material else {
            throw .certificate("its key is not the credential's")
        }
        guard let description = certificate.extensions["1.3.6.1.4.1.11129.2.1.17"]?.value,
            Self.challenge(in: description) == clientDataHash
        else { throw .certificate("it was made for another challenge") }
        return .certificates(chain)
    }

    /// attestationChallenge: the fifth field of the key description.
    private static func challenge(in description: [UInt8]) -> [UInt8]? {
        guard let node = try? DER.parse(description), case .constructed(let fields) = node.content else { return nil }
        let parts = Array(fields)
        guard parts.count > 4, case .primitive(let challenge) = parts[4].content else { return nil }
        return Array(challenge)
    }
}
