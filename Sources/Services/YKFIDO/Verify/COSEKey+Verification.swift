// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKWire
import YKX509

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

extension COSEKey {
    /// Reads a SubjectPublicKeyInfo (RFC 5280 §4.1.2.7), DER: points on P-256, P-384, P-521 and secp256k1, Ed25519,
    /// Ed448, ML-DSA and RSA. It does not specify the signature algorithm: FIDO's algorithm for such a key is assumed, with
    /// SHA-256 for RSA.
    public init(subjectPublicKeyInfo der: [UInt8]) throws(WireError) {
        guard let key = try Self.read(SubjectPublicKeyInfo(der: der)) else {
            throw WireError(.malformed, at: 0, "a public key of an unknown algorithm, or on an unknown curve")
        }
        self = key
    }

    /// Reads a public key, for use with an algorithm or the standard one for such a key; returns `nil` for unknown kinds.
    static func read(_ info: SubjectPublicKeyInfo, _ algorithm: COSEAlgorithm? = nil) throws(WireError) -> COSEKey? {
        switch info.algorithm.type {
        case "1.2.840.10045.2.1":
            guard let curve = info.algorithm.parameterType, let (name, standard) = curves[curve] else { return nil }
            return try point(name, algorithm ?? standard, info.key)
        case "1.3.101.112": return COSEKey(okp: .ed25519, algorithm: algorithm ?? .edDSA, x: info.key)
        case "1.3.101.113": return COSEKey(okp: .ed448, algorithm: algorithm ?? .ed448, x: info.key)
        case "1.2.840.113549.1.1.1": return try rsa(algorithm ?? .rs256, info.key)
        case let other:
            guard let own = mlDSA[other], algorithm == nil || algorithm == own else { return nil }
            return try COSEKey(decoding: CBOR.map([1: 7, 3: .int(own.rawValue), -1: .bytes(info.key)]).encoded)
        }
    }

    /// ML-DSA (RFC 9881 §2).
    private static let mlDSA: [OID: COSEAlgorithm] = [
        "2.16.840.1.101.3.4.3.17": .mlDSA44, "2.16.840.1.101.3.4.3.18": .mlDSA65,
        "2.16.840.1.101.3.4.3.19": .mlDSA87,
    ]

    /// The key with each algorithm that WebAuthn uses with such a key: a SubjectPublicKeyInfo does not say which.
    ///
    /// - Parameter allowsSHA1: Whether RS1 is among them.
    public func withAlgorithms(allowingSHA1 allowsSHA1: Bool = false) -> [COSEKey] {
        guard case .rsa(let modulus, let exponent) = material else { return [self] }
        let algorithms: [COSEAlgorithm] = [.rs256, .ps256, .rs384, .rs512] + (allowsSHA1 ? [.rs1] : [])
        return algorithms.map { COSEKey(rsaModulus: modulus, exponent: exponent, algorithm: $0) }
    }

    private static let curves: [OID: (COSECurve, COSEAlgorithm)] = [
        "1.2.840.10045.3.1.7": (.p256, .es256), "1.3.132.0.34": (.p384, .es384), "1.3.132.0.35": (.p521, .es512),
        "1.3.132.0.10": (.secp256k1, .es256K),
    ]

    private static func point(
        _ curve: COSECurve, _ algorithm: COSEAlgorithm, _ bytes: [UInt8]
    ) throws(WireError) -> COSEKey {
        let size = curve.coordinateSize ?? 0
        guard bytes.first == 0x04, bytes.count == 1 + 2 * size else {
            throw WireError(.malformed, at: 0, "the point is not uncompressed")
        }
        return COSEKey(
            ec2: curve, algorithm: algorithm, x: Array(bytes[1..<(1 + size)]), y: Array(bytes.suffix(size)))
    }

    /// Reads an RSA public key (RFC 8017 §A.1.1).
    private static func rsa(_ algorithm: COSEAlgorithm, _ bytes: [UInt8]) throws(WireError) -> COSEKey {
        var outer = ByteReader(bytes)
        var key = try outer.der(0x30, "the RSA key")
        try outer.finish("the RSA key")
        let modulus = try key.derInteger("the modulus").drop { $0 == 0 }
        let exponent = try key.derInteger("the exponent").drop { $0 == 0 }
        try key.finish("the RSA key")
        return COSEKey(rsaModulus: Array(modulus), exponent: Array(exponent), algorithm: algorithm)
    }
}
