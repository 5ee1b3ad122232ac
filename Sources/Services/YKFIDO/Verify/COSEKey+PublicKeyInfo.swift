// SPDX-License-Identifier: Apache-2.0

public import YKWire
import YKX509

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
