// SPDX-License-Identifier: Apache-2.0

import YKX509

extension X509Certificate {
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
