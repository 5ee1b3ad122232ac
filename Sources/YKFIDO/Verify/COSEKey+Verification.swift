// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKWire

extension COSEKey {
    /// Checks a signature over a message with this key and its algorithm.
    ///
    /// Throws `badSignature`, `badKey`, or `unsupportedAlgorithm` for ES256K, Ed448, ML-DSA and unknown algorithms.
    public func verify(_ signature: [UInt8], over message: [UInt8]) throws(VerificationProblem) {
        guard try verificationKey().isValid(signature, for: message) else { throw .badSignature }
    }

    private func verificationKey() throws(VerificationProblem) -> VerificationKey {
        let key: VerificationKey?
        switch (material, algorithm) {
        case (.ec2(.p256, _, _), .es256?), (.ec2(.p256, _, _), .esp256?): key = ecdsa(.p256)
        case (.ec2(.p384, _, _), .es384?), (.ec2(.p384, _, _), .esp384?): key = ecdsa(.p384)
        case (.ec2(.p521, _, _), .es512?), (.ec2(.p521, _, _), .esp512?): key = ecdsa(.p521)
        case (.okp(.ed25519, let x), .edDSA?), (.okp(.ed25519, let x), .ed25519?):
            key = try? VerificationKey(ed25519: x)
        case (.rsa(let modulus, let exponent), let algorithm?):
            guard let (hash, padding) = algorithm.rsa else { throw .unsupportedAlgorithm(algorithm) }
            key = try? VerificationKey(rsaModulus: modulus, exponent: exponent, hash, padding)
        default: throw .unsupportedAlgorithm(algorithm)
        }
        guard let key else { throw .badKey }
        return key
    }

    private func ecdsa(_ curve: VerificationKey.Curve) -> VerificationKey? {
        guard let point = uncompressedPoint else { return nil }
        return try? VerificationKey(ecdsa: curve, point: point)
    }
}

extension COSEAlgorithm {
    /// The hash and padding of an RSA algorithm.
    var rsa: (HashAlgorithm, VerificationKey.RSAPadding)? {
        switch self {
        case .rs256: (.sha256, .pkcs1)
        case .rs384: (.sha384, .pkcs1)
        case .rs512: (.sha512, .pkcs1)
        case .rs1: (.sha1, .pkcs1)
        case .ps256: (.sha256, .pss)
        default: nil
        }
    }
}
