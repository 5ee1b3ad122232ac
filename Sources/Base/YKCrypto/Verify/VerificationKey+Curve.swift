// SPDX-License-Identifier: Apache-2.0

extension VerificationKey {
    /// An elliptic curve: NIST's (FIPS 186-5), secp256k1 (SEC 2), or Brainpool's (RFC 5639).
    public enum Curve: Sendable, Hashable, CaseIterable {
        /// P-256, in COSE with SHA-256.
        case p256
        /// P-384, in COSE with SHA-384.
        case p384
        /// P-521, in COSE with SHA-512.
        case p521
        /// secp256k1.
        case secp256k1
        /// brainpoolP256r1.
        case brainpoolP256
        /// brainpoolP384r1.
        case brainpoolP384
        /// brainpoolP512r1.
        case brainpoolP512

        /// The hash that COSE pairs with the curve.
        public var hash: HashAlgorithm {
            switch self {
            case .p256, .secp256k1, .brainpoolP256: .sha256
            case .p384, .brainpoolP384: .sha384
            case .p521, .brainpoolP512: .sha512
            }
        }
    }
}

extension VerificationKey.Curve {
    /// The size of a coordinate and of a private scalar, in bytes.
    public var fieldSize: Int {
        switch self {
        case .p256, .secp256k1, .brainpoolP256: 32
        case .p384, .brainpoolP384: 48
        case .brainpoolP512: 64
        case .p521: 66
        }
    }

    var openSSLName: String {
        switch self {
        case .p256: "prime256v1"
        case .p384: "secp384r1"
        case .p521: "secp521r1"
        case .secp256k1: "secp256k1"
        case .brainpoolP256: "brainpoolP256r1"
        case .brainpoolP384: "brainpoolP384r1"
        case .brainpoolP512: "brainpoolP512r1"
        }
    }

    /// The curve with OpenSSL's name.
    static func named(_ name: String) -> Self? { allCases.first { $0.openSSLName == name } }

    /// The algorithm identifier of a key on the curve, DER (RFC 5480 §2.1.1).
    var algorithm: [UInt8] { DERWriter.sequence(DERWriter.ecPublicKey, DERWriter.object(0x06, objectIdentifier)) }

    /// The curve with this algorithm identifier.
    static func of(algorithm: [UInt8]) -> Self? { allCases.first { $0.algorithm == algorithm } }

    /// The content of the object identifier (RFC 5480 §2.1.1.1, RFC 5639 §4).
    public var objectIdentifier: [UInt8] {
        switch self {
        case .p256: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        case .p384: [0x2B, 0x81, 0x04, 0x00, 0x22]
        case .p521: [0x2B, 0x81, 0x04, 0x00, 0x23]
        case .secp256k1: [0x2B, 0x81, 0x04, 0x00, 0x0A]
        case .brainpoolP256: [0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x07]
        case .brainpoolP384: [0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x0B]
        case .brainpoolP512: [0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x0D]
        }
    }
}
