// SPDX-License-Identifier: Apache-2.0

package import YKX509

extension X509Certificate {
    /// Reads the certificate of an attestation; throws `certificate` if it is malformed.
    package init(attesting der: [UInt8]) throws(VerificationProblem) {
        do { try self.init(der: der) } catch { throw .certificate("cannot be read: \(error)") }
    }

    /// The first attribute of this kind in the subject.
    func attribute(_ type: OID) -> String? { subject.attributes.first { $0.type == type }?.text }

    /// Checks for version 3, and that it is not a certificate authority.
    func checkEnd() throws(VerificationProblem) {
        guard version == 3 else { throw .certificate("version \(version), expected 3") }
        let constraints: BasicConstraints?
        do { constraints = try basicConstraints } catch { throw .certificate("cannot be read: \(error)") }
        guard let constraints, !constraints.isAuthority else {
            throw .certificate("it is, or does not say that it is not, a certificate authority")
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
