// SPDX-License-Identifier: Apache-2.0

import SwiftASN1
import YKWire

extension AttestationStatement {
    /// WebAuthn Level 3 §8.4: the certificate is the credential's own, issued for this challenge by Android's key
    /// store, for a key that was generated there, signs, and belongs to one application.
    func androidKey() throws(VerificationProblem) -> AttestationVerification.Trust {
        let chain = try certificates()
        let key = try chain[0].publicKey(for: try algorithm())
        try key.verify(try signature(), over: message, allowingSHA1: allowsSHA1)
        guard key.material == credential.publicKey.material else {
            throw .certificate("its key is not the credential's")
        }
        guard let value = chain[0].value("1.3.6.1.4.1.11129.2.1.17"),
            let description = try? AndroidKeyDescription(value)
        else { throw .certificate("it does not describe the key") }
        guard description.challenge == clientDataHash else { throw .certificate("it was made for another challenge") }
        guard !description.isForAllApplications else { throw .certificate("the key is for all applications") }
        guard description.origin == AndroidKeyDescription.generated else {
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
    /// origin, tag 702, of either list.
    let origin: Int?
    /// purpose, tag 1, of both lists.
    let purposes: Set<Int>

    /// KM_ORIGIN_GENERATED.
    static let generated = 0
    /// KM_PURPOSE_SIGN.
    static let sign = 2

    init(_ value: [UInt8]) throws {
        let parts = try DER.parse(value).children("the key description")
        guard parts.count >= 8 else { throw CertificateFields.Fault(what: "the key description") }
        challenge = Array(try ASN1OctetString(derEncoded: parts[4]).bytes)
        let entries = try parts[6].children("a list") + parts[7].children("a list")
        func inner(_ tag: UInt) throws -> [ASN1Node] {
            try entries.filter { $0.identifier.tagNumber == tag }.map { try $0.tagged("an entry") }
        }
        isForAllApplications = entries.contains { $0.identifier.tagNumber == 600 }
        origin = try inner(702).first.map { Int(try UInt16(derEncoded: $0)) }
        purposes = Set(
            try inner(1).flatMap { try $0.children("the purposes", .set).map { Int(try UInt16(derEncoded: $0)) } })
    }
}
