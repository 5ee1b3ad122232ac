// SPDX-License-Identifier: Apache-2.0

import YKWire
import YKX509

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
