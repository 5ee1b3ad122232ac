// SPDX-License-Identifier: Apache-2.0

import YKX509

extension X509Certificate {
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
}
