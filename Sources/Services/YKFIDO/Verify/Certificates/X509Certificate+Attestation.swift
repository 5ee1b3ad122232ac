// SPDX-License-Identifier: Apache-2.0

import YKCrypto
package import YKWire
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

    /// The public key, for use with an algorithm.
    package func publicKey(for algorithm: COSEAlgorithm) throws(VerificationProblem) -> COSEKey {
        let key: COSEKey?
        do { key = try COSEKey.read(subjectPublicKeyInfo, algorithm) } catch { throw .badKey("\(error)") }
        guard let key else { throw .certificate("a public key of type \(subjectPublicKeyInfo.algorithm.type)") }
        return key
    }

    /// SHA-1 of the public key's bits (RFC 5280 §4.2.1.2, method 1), by which metadata identifies the models of U2F
    /// keys.
    package var keyIdentifier: [UInt8] { HashAlgorithm.sha1.hash(subjectPublicKeyInfo.key) }

    /// The rules of WebAuthn Level 3 §8.2.1.
    func checkPacked(aaguid: [UInt8]) throws(VerificationProblem) {
        try checkEnd()
        guard attribute("2.5.4.11") == "Authenticator Attestation" else {
            throw .certificate("its organizational unit is not “Authenticator Attestation”")
        }
        guard attribute("2.5.4.6")?.utf8.count == 2, attribute("2.5.4.10")?.isEmpty == false,
            attribute("2.5.4.3")?.isEmpty == false
        else { throw .certificate("country, organization or name is missing") }
        try checkModel(aaguid)
    }

    /// The rules for the certificate of a TPM's attestation key (WebAuthn Level 3 §8.3.1): version 3, an empty
    /// subject, the TPM's manufacturer, model and version in the alternative name, the extended key usage
    /// tcg-kp-AIKCertificate, not a certificate authority.
    func checkTPM(aaguid: [UInt8]) throws(VerificationProblem) {
        try checkEnd()
        guard subject.attributes.isEmpty else { throw .certificate("its subject is not empty") }
        let names = alternativeAttributes
        guard let maker = names["2.23.133.2.1"], names["2.23.133.2.2"]?.isEmpty == false,
            names["2.23.133.2.3"]?.isEmpty == false
        else { throw .certificate("the manufacturer, model or version of the TPM is missing") }
        guard Self.isMaker(maker) else { throw .certificate("“\(maker)” is not the identifier of a TPM manufacturer") }
        guard let purposes = try? extendedKeyUsage, purposes.contains("2.23.133.8.3") else {
            throw .certificate("it is not for attestation by a TPM")
        }
        try checkModel(aaguid)
    }

    /// `id:` and eight hexadecimal digits (TCG EK Credential Profile §3.1.2).
    private static func isMaker(_ text: String) -> Bool {
        let digits = text.utf8.dropFirst(3)
        return text.hasPrefix("id:") && digits.count == 8 && digits.allSatisfy { Character(.init($0)).isHexDigit }
    }

    /// The attributes of the directory names among the subject's alternative names (RFC 5280 §4.2.1.6).
    private var alternativeAttributes: [OID: String] {
        var found: [OID: String] = [:]
        for name in (try? alternativeNames) ?? [] {
            for attribute in name.directoryName?.attributes ?? [] { found[attribute.type] = attribute.text }
        }
        return found
    }
}
