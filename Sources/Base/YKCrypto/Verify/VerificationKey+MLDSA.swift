// SPDX-License-Identifier: Apache-2.0

import COpenSSL

extension VerificationKey {
    /// A parameter set of ML-DSA.
    public enum MLDSA: Sendable, Hashable {
        /// ML-DSA-44: keys of 1312 bytes, signatures of 2420.
        case mlDSA44
        /// ML-DSA-65: keys of 1952 bytes, signatures of 3309.
        case mlDSA65
        /// ML-DSA-87: keys of 2592 bytes, signatures of 4627.
        case mlDSA87

        private var openSSLName: String {
            switch self {
            case .mlDSA44: "ML-DSA-44"
            case .mlDSA65: "ML-DSA-65"
            case .mlDSA87: "ML-DSA-87"
            }
        }

        /// OpenSSL's key, since OpenSSL 3.5.
        func openSSLKey(_ bytes: [UInt8]) -> OpenSSLKey? {
            try? OpenSSLKey(ykit_key_raw(openSSLName, bytes, bytes.count), "ML-DSA: not a public key")
        }

        var parameters: MLDSAParameters {
            switch self {
            case .mlDSA44: .mlDSA44
            case .mlDSA65: .mlDSA65
            case .mlDSA87: .mlDSA87
            }
        }
    }

    /// ML-DSA with an empty context (FIPS 204 §5.3), by OpenSSL from version 3.5 on.
    ///
    /// - Throws: `CryptoFault` when the length of the key does not match the parameter set.
    public init(mlDSA set: MLDSA, _ bytes: [UInt8]) throws(CryptoFault) {
        if let key = set.openSSLKey(bytes) {
            self.init(key, nil)
        } else {
            try self.init(ownMLDSA: set, bytes)
        }
    }

    /// ML-DSA by ykit's own code.
    init(ownMLDSA set: MLDSA, _ bytes: [UInt8]) throws(CryptoFault) {
        guard let key = MLDSAPublicKey(set.parameters, bytes) else { throw CryptoFault("ML-DSA: not a public key") }
        self.init { signature, message in key.isValid(signature, for: message) }
    }
}
