// SPDX-License-Identifier: Apache-2.0

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
