// SPDX-License-Identifier: Apache-2.0

import YKWire
package import YKX509

extension X509Certificate {
    /// Reads the certificate of an attestation; throws `certificate` if it is malformed.
    package init(attesting der: [UInt8]) throws(VerificationProblem) {
        do { try self.init(der: der) } catch { throw .certificate("cannot be read: \(error)") }
    }

    /// Reads the certificate of a U2F key. Its encoding is corrected if the RSA signature claims to have unused bits:
    /// early Yubico keys have such certificates.
    package init(attestingU2F der: [UInt8]) throws(VerificationProblem) {
        try self.init(attesting: Self.withWholeSignature(der))
    }

    /// Sets the number of unused bits of an RSA signature to zero: such signatures are whole bytes.
    private static func withWholeSignature(_ der: [UInt8]) -> [UInt8] {
        let sha256WithRSA: OID = "1.2.840.113549.1.1.11"
        var outer = ByteReader(der)
        guard var certificate = try? outer.der(0x30, "a certificate"), outer.isAtEnd, (try? certificate.der()) != nil,
            var algorithm = try? certificate.der(0x30, "the algorithm"),
            (try? algorithm.derOID("the algorithm")) == sha256WithRSA,
            var signature = try? certificate.der(0x03, "the signature"), certificate.isAtEnd,
            let unused = try? signature.byte("the number of unused bits"), (1...7).contains(unused)
        else { return der }
        var corrected = der
        corrected[der.count - signature.remaining - 1] = 0
        return corrected
    }

    /// The first attribute of this kind in the subject.
    func attribute(_ type: OID) -> String? { subject.attributes.first { $0.type == type }?.text }

    /// Checks for version 3, and that it is not a certificate authority.
    func checkEnd() throws(VerificationProblem) {
        guard version == 3 else { throw .certificate("version \(version), expected 3") }
        let constraints: BasicConstraints?
        do { constraints = try basicConstraints } catch { throw .certificate("cannot be read: \(error)") }
        guard let constraints, !constraints.isAuthority else {
            throw .certificate("it is a certificate authority, or does not say that it is not")
        }
    }

    /// Checks that the extension id-fido-gen-ce-aaguid (WebAuthn Level 3 §8.2.1), if present, names this model.
    func checkModel(_ aaguid: [UInt8]) throws(VerificationProblem) {
        guard let model = extensions["1.3.6.1.4.1.45724.1.1.4"] else { return }
        guard !model.isCritical, model.value == [0x04, 0x10] + aaguid else {
            throw .certificate("it is for another model of key")
        }
    }
}
