// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras

extension VerificationKey {
    /// How an RSA signature is padded.
    public enum RSAPadding: Sendable, Hashable {
        /// RSASSA-PKCS1-v1_5 (RFC 8017 §8.2).
        case pkcs1
        /// RSASSA-PSS with a salt as long as the hash (RFC 8017 §8.1).
        case pss
    }

    /// RSA with a hash.
    ///
    /// - Throws: `CryptoFault` for keys that the library refuses, such as those below 1024 bits.
    public init(
        rsaModulus modulus: [UInt8], exponent: [UInt8], _ hash: HashAlgorithm, _ padding: RSAPadding
    ) throws(CryptoFault) {
        do {
            let key = try Self.rsa(modulus, exponent)
            let padding: _RSA.Signing.Padding = padding == .pss ? .PSS : .insecurePKCS1v1_5
            self.init { signature, message in
                let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
                return key.isValidSignature(signature, for: hash.digest(message), padding: padding)
            }
        } catch {
            throw CryptoFault("RSA: not a public key")
        }
    }

    /// Whether an RSASSA-PKCS1-v1_5 signature (RFC 8017 §8.2) over a message hashed incrementally was made by the
    /// matching private key; `nil` for keys that the library refuses.
    static func isValid(_ signature: [UInt8], for hash: RunningHash, rsaModulus: [UInt8], exponent: [UInt8]) -> Bool? {
        guard let key = try? rsa(rsaModulus, exponent) else { return nil }
        let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
        return key.isValidSignature(signature, for: hash.value, padding: .insecurePKCS1v1_5)
    }

    private static func rsa(_ modulus: [UInt8], _ exponent: [UInt8]) throws -> _RSA.Signing.PublicKey {
        try _RSA.Signing.PublicKey(n: modulus, e: exponent)
    }
}
