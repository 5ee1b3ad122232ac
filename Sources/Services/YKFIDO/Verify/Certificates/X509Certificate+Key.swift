// SPDX-License-Identifier: Apache-2.0

import YKCrypto
package import YKWire
package import YKX509

extension X509Certificate {
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
}
