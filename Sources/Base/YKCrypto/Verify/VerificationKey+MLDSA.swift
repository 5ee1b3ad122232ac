// SPDX-License-Identifier: Apache-2.0

import Crypto

extension VerificationKey {
    /// A parameter set of ML-DSA.
    public enum MLDSA: Sendable, Hashable {
        /// ML-DSA-65: keys of 1952 bytes, signatures of 3309.
        case mlDSA65
        /// ML-DSA-87: keys of 2592 bytes, signatures of 4627.
        case mlDSA87
    }

    /// ML-DSA with an empty context (FIPS 204 §5.3).
    ///
    /// - Throws: `CryptoFault` when the length of the key does not match the parameter set.
    public init(mlDSA set: MLDSA, _ bytes: [UInt8]) throws(CryptoFault) {
        do {
            switch set {
            case .mlDSA65:
                let key = try MLDSA65.PublicKey(rawRepresentation: bytes)
                self.init { signature, message in key.isValidSignature(signature, for: message) }
            case .mlDSA87:
                let key = try MLDSA87.PublicKey(rawRepresentation: bytes)
                self.init { signature, message in key.isValidSignature(signature, for: message) }
            }
        } catch {
            throw CryptoFault("ML-DSA: not a public key")
        }
    }
}
