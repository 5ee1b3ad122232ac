// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKWire

extension COSEKey {
    /// Verifies a signature over a message with this key and its algorithm.
    ///
    /// - Throws: `badSignature`, `badKey`, `weakAlgorithm` for RS1 unless SHA-1 is allowed, or `unsupportedAlgorithm`.
    public func verify(
        _ signature: [UInt8], over message: [UInt8], allowingSHA1: Bool = false
    ) throws(VerificationProblem) {
        if let algorithm, algorithm == .rs1, !allowingSHA1 { throw .weakAlgorithm(algorithm) }
        guard try verificationKey().isValid(signature, for: message) else { throw .badSignature }
    }

    /// Checks that signatures can be verified with this key: that it has an algorithm, the type and curve of that
    /// algorithm, no parameter that a credential's key must not have (WebAuthn Level 3 §6.5.1.1), and numbers that form
    /// a valid key.
    ///
    /// - Throws: `badKey`; `weakAlgorithm` for RS1 unless SHA-1 is allowed; `unsupportedAlgorithm`.
    func checkUsable(allowingSHA1: Bool) throws(VerificationProblem) {
        if let other = map.entries.first(where: { !parameters.contains($0.key) })?.key {
            throw .badKey("it has the parameter \(other), which it must not have")
        }
        if let algorithm, algorithm == .rs1, !allowingSHA1 { throw .weakAlgorithm(algorithm) }
        _ = try verificationKey()
    }

    /// The parameters of a public key of this type (RFC 9053 §7, RFC 8230 §4).
    private var parameters: [CBOR] {
        switch material {
        case .ec2: [1, 3, -1, -2, -3]
        case .okp, .rsa: [1, 3, -1, -2]
        case .other: [1, 3, -1]
        }
    }

    private func verificationKey() throws(VerificationProblem) -> VerificationKey {
        guard let algorithm else { throw .badKey("it has no algorithm") }
        guard fits(algorithm) else { throw .badKey("its type or curve is not that of \(algorithm)") }
        do throws(CryptoFault) {
            if let key = try curveKey() { return key }
            if let key = try rsaKey() { return key }
            if let key = try mlDSAKey() { return key }
        } catch {
            throw .badKey("\(error)")
        }
        throw .unsupportedAlgorithm(algorithm)
    }

    /// Whether type and curve are those of an algorithm (WebAuthn Level 3 §5.8.5, IANA registry "COSE Algorithms"); true
    /// for unknown algorithms. Some firmware uses numbers of its own, such as -48 for SM2, which is ML-DSA-44.
    private func fits(_ algorithm: COSEAlgorithm) -> Bool {
        switch (algorithm, material) {
        case (.es256, .ec2(let curve, _, _)), (.esp256, .ec2(let curve, _, _)): curve == .p256
        case (.es384, .ec2(let curve, _, _)), (.esp384, .ec2(let curve, _, _)): curve == .p384
        case (.es512, .ec2(let curve, _, _)), (.esp512, .ec2(let curve, _, _)): curve == .p521
        case (.es256K, .ec2(let curve, _, _)): curve == .secp256k1
        case (.edDSA, .okp(let curve, _)), (.ed25519, .okp(let curve, _)): curve == .ed25519
        case (.ed448, .okp(let curve, _)): curve == .ed448
        case (.mlDSA44, .other(type: 7)), (.mlDSA65, .other(type: 7)), (.mlDSA87, .other(type: 7)): true
        case (_, .rsa): algorithm.rsa != nil || !Self.typed.contains(algorithm)
        default: algorithm.rsa == nil && !Self.typed.contains(algorithm)
        }
    }

    /// The algorithms whose keys are not RSA.
    private static let typed: Set<COSEAlgorithm> = [
        .es256, .esp256, .es384, .esp384, .es512, .esp512, .es256K, .edDSA, .ed25519, .ed448, .mlDSA44, .mlDSA65,
        .mlDSA87,
    ]

    private func curveKey() throws(CryptoFault) -> VerificationKey? {
        let point = uncompressedPoint ?? []
        return switch (material, algorithm) {
        case (.ec2(.p256, _, _), .es256?), (.ec2(.p256, _, _), .esp256?):
            try VerificationKey(ecdsa: .p256, point: point)
        case (.ec2(.p384, _, _), .es384?), (.ec2(.p384, _, _), .esp384?):
            try VerificationKey(ecdsa: .p384, point: point)
        case (.ec2(.p521, _, _), .es512?), (.ec2(.p521, _, _), .esp512?):
            try VerificationKey(ecdsa: .p521, point: point)
        case (.ec2(.secp256k1, _, _), .es256K?): try VerificationKey(ecdsa: .secp256k1, point: point)
        case (.okp(.ed25519, let x), .edDSA?), (.okp(.ed25519, let x), .ed25519?): try VerificationKey(ed25519: x)
        case (.okp(.ed448, let x), .ed448?): try VerificationKey(ed448: x)
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
        case .mlDSA44?: try VerificationKey(mlDSA: .mlDSA44, bytes)
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
