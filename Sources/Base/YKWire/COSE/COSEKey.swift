// SPDX-License-Identifier: Apache-2.0

/// A COSE public key (RFC 9052 §7, RFC 9053 §7).
public struct COSEKey: Hashable, Sendable {
    /// The key material.
    public enum Material: Hashable, Sendable {
        /// A curve point with two coordinates of the curve's length.
        case ec2(curve: COSECurve, x: [UInt8], y: [UInt8])
        /// A curve point with one coordinate.
        case okp(curve: COSECurve, x: [UInt8])
        /// An RSA modulus and exponent, most significant byte first.
        case rsa(modulus: [UInt8], exponent: [UInt8])
        /// A key of another type, such as ML-DSA; see ``COSEKey/map``.
        case other(type: Int64)
    }

    /// The key's algorithm; `nil` when the key does not specify one.
    public let algorithm: COSEAlgorithm?
    /// The key material.
    public let material: Material
    /// The whole key, including other parameters.
    public let map: CBOR.Map

    /// Creates a key on a curve with two coordinates.
    public init(ec2 curve: COSECurve, algorithm: COSEAlgorithm, x: [UInt8], y: [UInt8]) {
        self.algorithm = algorithm
        material = .ec2(curve: curve, x: x, y: y)
        map = [
            1: 2, 3: .int(algorithm.rawValue), -1: .int(curve.rawValue), -2: .bytes(x), -3: .bytes(y),
        ]
    }

    /// Creates a key on a curve with one coordinate.
    public init(okp curve: COSECurve, algorithm: COSEAlgorithm, x: [UInt8]) {
        self.algorithm = algorithm
        material = .okp(curve: curve, x: x)
        map = [1: 1, 3: .int(algorithm.rawValue), -1: .int(curve.rawValue), -2: .bytes(x)]
    }

    /// Creates an RSA key.
    public init(rsaModulus modulus: [UInt8], exponent: [UInt8], algorithm: COSEAlgorithm) {
        self.algorithm = algorithm
        material = .rsa(modulus: modulus, exponent: exponent)
        map = [1: 3, 3: .int(algorithm.rawValue), -1: .bytes(modulus), -2: .bytes(exponent)]
    }

    init(algorithm: COSEAlgorithm?, material: Material, map: CBOR.Map) {
        self.algorithm = algorithm
        self.material = material
        self.map = map
    }

    /// The uncompressed point (SEC 1 §2.3.3) of a key with two coordinates: 04, x, y.
    public var uncompressedPoint: [UInt8]? {
        guard case .ec2(_, let x, let y) = material else { return nil }
        return [0x04] + x + y
    }
}

extension COSEKey {
    /// The key in CTAP2's canonical form.
    public var encoded: [UInt8] { CBOR.map(map).encoded }

    /// Decodes exactly one key. The lengths of coordinates are checked; whether the point lies on its curve is not.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        try self.init(CBOR.Fields(decoding: bytes, "the public key"))
    }

    /// Reads a key from a decoded map.
    public init(_ fields: CBOR.Fields) throws(WireError) {
        let type = try fields.required(1, .int)
        algorithm = try fields.optional(3, .int).map(COSEAlgorithm.init(rawValue:))
        map = fields.map
        switch type {
        case 2:
            let curve = COSECurve(rawValue: try fields.required(-1, .int))
            let y = try fields.required(-3, .bytes)
            material = .ec2(curve: curve, x: try fields.required(-2, .bytes), y: y)
            try Self.check(y, of: curve, fields, -3)
        case 1:
            material = .okp(
                curve: COSECurve(rawValue: try fields.required(-1, .int)), x: try fields.required(-2, .bytes))
        case 3:
            material = .rsa(modulus: try fields.required(-1, .bytes), exponent: try fields.required(-2, .bytes))
        default: material = .other(type: type)
        }
        switch material {
        case .ec2(let curve, let x, _), .okp(let curve, let x): try Self.check(x, of: curve, fields, -2)
        case .rsa(let modulus, let exponent):
            guard (64...2048).contains(modulus.count), (1...8).contains(exponent.count) else {
                throw WireError(
                    .malformed, at: fields.place(of: -1)?.lowerBound ?? 0,
                    "an RSA key of \(modulus.count) and \(exponent.count) bytes")
            }
        case .other: break
        }
    }

    private static func check(
        _ coordinate: [UInt8], of curve: COSECurve, _ fields: CBOR.Fields, _ key: CBOR
    ) throws(WireError) {
        guard let size = curve.coordinateSize, coordinate.count != size else { return }
        throw WireError(
            .malformed, at: fields.place(of: key)?.lowerBound ?? 0,
            "key \(key) of the public key: a coordinate of \(coordinate.count) bytes, \(curve) has \(size)")
    }
}

/// A COSE algorithm (IANA registry "COSE Algorithms").
public struct COSEAlgorithm: OpenSet {
    /// The number in the registry.
    public let rawValue: Int64
    /// Wraps a number.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// ECDSA with SHA-256; in FIDO always on P-256.
    public static let es256 = COSEAlgorithm(-7)
    /// EdDSA; in FIDO always Ed25519.
    public static let edDSA = COSEAlgorithm(-8)
    /// ECDSA on P-256 with SHA-256 (RFC 9864).
    public static let esp256 = COSEAlgorithm(-9)
    /// EdDSA on Ed25519 (RFC 9864).
    public static let ed25519 = COSEAlgorithm(-19)
    /// ECDH with HKDF-SHA-256: the identifier in CTAP2's key agreement keys.
    public static let ecdhESHKDF256 = COSEAlgorithm(-25)
    /// ECDSA with SHA-384; in FIDO always on P-384.
    public static let es384 = COSEAlgorithm(-35)
    /// ECDSA with SHA-512; in FIDO always on P-521.
    public static let es512 = COSEAlgorithm(-36)
    /// RSASSA-PSS with SHA-256.
    public static let ps256 = COSEAlgorithm(-37)
    /// ECDSA on secp256k1 with SHA-256.
    public static let es256K = COSEAlgorithm(-47)
    /// ML-DSA-44.
    public static let mlDSA44 = COSEAlgorithm(-48)
    /// ML-DSA-65.
    public static let mlDSA65 = COSEAlgorithm(-49)
    /// ML-DSA-87.
    public static let mlDSA87 = COSEAlgorithm(-50)
    /// ECDSA on P-384 with SHA-384 (RFC 9864).
    public static let esp384 = COSEAlgorithm(-51)
    /// ECDSA on P-521 with SHA-512 (RFC 9864).
    public static let esp512 = COSEAlgorithm(-52)
    /// EdDSA on Ed448 (RFC 9864).
    public static let ed448 = COSEAlgorithm(-53)
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    public static let rs256 = COSEAlgorithm(-257)
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    public static let rs384 = COSEAlgorithm(-258)
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    public static let rs512 = COSEAlgorithm(-259)
    /// ECDSA on P-256 over a digest that another party computed (draft-lundberg-cose-two-party-signing-algs; number
    /// requested).
    public static let esp256Split = COSEAlgorithm(-300)
    /// ``esp256Split`` with a key derived by ARKG-P256 (draft-bradleylundberg-cfrg-arkg-10; placeholder number).
    public static let esp256SplitARKG = COSEAlgorithm(-65539)
    /// The seed of ARKG-P256, from which public keys are derived (draft-bradleylundberg-cfrg-arkg-10; placeholder number).
    public static let arkgP256 = COSEAlgorithm(-65700)
    /// RSASSA-PKCS1-v1_5 with SHA-1.
    public static let rs1 = COSEAlgorithm(-65535)

    /// Finds an algorithm by name, as ``description`` prints it, in any case.
    public init?(name: String) {
        let found = Self.names.first { $0.value.lowercased() == name.lowercased() }
        guard let found else { return nil }
        self = found.key
    }

    /// The name in the registry, else the number.
    public var description: String { Self.names.first { $0.key == self }?.value ?? "algorithm \(rawValue)" }

    private static let names: KeyValuePairs<COSEAlgorithm, String> = [
        .es256: "ES256", .edDSA: "EdDSA", .esp256: "ESP256", .ed25519: "Ed25519", .ecdhESHKDF256: "ECDH-ES+HKDF-256",
        .es384: "ES384", .es512: "ES512", .ps256: "PS256", .es256K: "ES256K", .mlDSA44: "ML-DSA-44",
        .mlDSA65: "ML-DSA-65", .mlDSA87: "ML-DSA-87", .esp384: "ESP384", .esp512: "ESP512", .ed448: "Ed448",
        .rs256: "RS256", .rs384: "RS384", .rs512: "RS512", .rs1: "RS1",
        .esp256Split: "ESP256-split", .esp256SplitARKG: "ESP256-split-ARKG", .arkgP256: "ARKG-P256",
    ]
}

/// An elliptic curve (IANA registry "COSE Elliptic Curves").
public struct COSECurve: OpenSet {
    /// The number in the registry.
    public let rawValue: Int64
    /// Wraps a number.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// NIST P-256.
    public static let p256 = COSECurve(rawValue: 1)
    /// NIST P-384.
    public static let p384 = COSECurve(rawValue: 2)
    /// NIST P-521.
    public static let p521 = COSECurve(rawValue: 3)
    /// X25519, for key agreement.
    public static let x25519 = COSECurve(rawValue: 4)
    /// Ed25519.
    public static let ed25519 = COSECurve(rawValue: 6)
    /// Ed448.
    public static let ed448 = COSECurve(rawValue: 7)
    /// secp256k1.
    public static let secp256k1 = COSECurve(rawValue: 8)

    /// The size of a coordinate or a compressed point, in bytes; `nil` for a curve that is not listed here.
    public var coordinateSize: Int? {
        switch self {
        case .p256, .secp256k1, .x25519, .ed25519: 32
        case .p384: 48
        case .p521: 66
        case .ed448: 57
        default: nil
        }
    }

    /// The usual name, else the number.
    public var description: String {
        switch self {
        case .p256: "P-256"
        case .p384: "P-384"
        case .p521: "P-521"
        case .x25519: "X25519"
        case .ed25519: "Ed25519"
        case .ed448: "Ed448"
        case .secp256k1: "secp256k1"
        default: "curve \(rawValue)"
        }
    }
}
