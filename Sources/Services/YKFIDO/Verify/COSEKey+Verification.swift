// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKWire

extension COSEKey {
    /// Verifies a signature over a message with this key and its algorithm.
    ///
    /// - Throws: `badSignature`, `badKey`, `weakAlgorithm` for RS1 unless SHA-1 is allowed, or `unsupportedAlgorithm`
    ///   for ML-DSA-44, for unknown algorithms, and for ES256K and Ed448 if OpenSSL 3 is not installed.
    public func verify(
        _ signature: [UInt8], over message: [UInt8], allowingSHA1: Bool = false
    ) throws(VerificationProblem) {
        if let algorithm, algorithm == .rs1, !allowingSHA1 { throw .weakAlgorithm(algorithm) }
        guard try verificationKey().isValid(signature, for: message) else { throw .badSignature }
    }

    /// Throws `badKey` for a key that is invalid for its algorithm, such as a point off its curve; unknown algorithms
    /// pass.
    func checkUsable() throws(VerificationProblem) {
        do { _ = try verificationKey() } catch .unsupportedAlgorithm { return }
    }

    private func verificationKey() throws(VerificationProblem) -> VerificationKey {
        guard hasTypeOfAlgorithm else { throw .badKey }
        do throws(CryptoFault) {
            if let key = try curveKey() { return key }
            if let key = try rsaKey() { return key }
            if let key = try mlDSAKey() { return key }
        } catch .noOpenSSL {
            throw .unsupportedAlgorithm(algorithm)
        } catch {
            throw .badKey
        }
        throw .unsupportedAlgorithm(algorithm)
    }

    /// Whether the key type matches its algorithm (IANA registry "COSE Algorithms"). Some firmware uses numbers of its
    /// own, such as -48 for SM2, which is ML-DSA-44.
    private var hasTypeOfAlgorithm: Bool {
        switch (algorithm, material) {
        case (.mlDSA44?, .other(type: 7)), (.mlDSA65?, .other(type: 7)), (.mlDSA87?, .other(type: 7)): true
        case (.mlDSA44?, _), (.mlDSA65?, _), (.mlDSA87?, _): false
        default: true
        }
    }

    private func curveKey() throws(CryptoFault) -> VerificationKey? {
        let point = uncompressedPoint ?? []
        return switch (material, algorithm) {
        case (.ec2(.p256, _, _), .es256?), (.ec2(.p256, _, _), .esp256?):
            try VerificationKey(ecdsa: .p256, point: point)
        case (.ec2(.p384, _, _), .es384?), (.ec2(.p384, _, _), .esp384?):
            try VerificationKey(ecdsa: .p384, point: point)
        case (.ec2(.p521, _, _), .es512?), (.ec2(.p521, _, _), .esp512?):
            try VerificationKey(ecdsa: .p521, point: point)
        case (.ec2(.secp256k1, _, _), .es256K?): try VerificationKey(secp256k1: point)
        case (.okp(.ed25519, let x), .edDSA?), (.okp(.ed25519, let x), .ed25519?): try VerificationKey(ed25519: x)
        case (.okp(.ed448, let x), .edDSA?), (.okp(.ed448, let x), .ed448?): try VerificationKey(ed448: x)
        default: nil
        }
    }

    private func rsaKey() throws(CryptoFault) -> VerificationKey? {
        guard case .rsa(let modulus, let exponent) = material, let (hash, padding) = algorithm?.rsa else { return nil }
        return try VerificationKey(rsaModulus: modulus, exponent: exponent, hash, padding)
    }

    /// Key type 7, AKP: the public key is parameter -1 (IANA registry "COSE Key Types").
    private func mlDSAKey() throws(CryptoFault) -> VerificationKey? {
        guard case .other(type: 7) = material, let bytes = map[-1]?.bytes else { return nil }
        return switch algorithm {
        case .mlDSA65?: try VerificationKey(mlDSA: .mlDSA65, bytes)
        case .mlDSA87?: try VerificationKey(mlDSA: .mlDSA87, bytes)
        default: nil
        }
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

    /// The hash of the algorithm, if it specifies one.
    var hash: HashAlgorithm? {
        switch self {
        case .es256, .esp256, .es256K: .sha256
        case .es384, .esp384: .sha384
        case .es512, .esp512: .sha512
        default: rsa?.0
        }
    }
}
