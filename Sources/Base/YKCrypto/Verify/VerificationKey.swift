// SPDX-License-Identifier: Apache-2.0

import COpenSSL

/// A public key that verifies signatures.
public struct VerificationKey: Sendable {
    private let check: @Sendable (_ signature: [UInt8], _ message: [UInt8]) -> Bool

    init(check: @escaping @Sendable (_ signature: [UInt8], _ message: [UInt8]) -> Bool) { self.check = check }

    init(_ key: OpenSSLKey, _ hash: HashAlgorithm?, padding: Int = YKIT_DEFAULT_PADDING) {
        self.init { signature, message in key.isValid(signature, for: message, hash, padding: padding) }
    }

    /// Ed25519 (RFC 8032); the key is 32 bytes, the signature 64.
    ///
    /// - Throws: `CryptoFault` when the key is not a point, or one of small order, under which one signature is valid for
    ///   many messages.
    public init(ed25519 bytes: [UInt8]) throws(CryptoFault) {
        guard !SmallOrder.contains(ed25519: bytes) else { throw CryptoFault("Ed25519: a point of small order") }
        self.init(try OpenSSLKey(.ed25519(bytes)), nil)
    }

    /// Ed448 (RFC 8032 §5.2); the key is 57 bytes, the signature 114.
    ///
    /// - Throws: `CryptoFault` when the key is not a point, or one of small order.
    public init(ed448 bytes: [UInt8]) throws(CryptoFault) {
        guard bytes.count == 57 else { throw CryptoFault("Ed448: not a public key") }
        guard !SmallOrder.contains(ed448: bytes) else { throw CryptoFault("Ed448: a point of small order") }
        self.init(try OpenSSLKey(ykit_key_raw("ED448", bytes, bytes.count), "Ed448: not a public key"), nil)
    }

    /// ECDSA (FIPS 186-5 §6) with a hash, by default the curve's own; the signature is DER. `point` is 04, x, y.
    ///
    /// - Throws: `CryptoFault` when the point is not on the curve.
    public init(ecdsa curve: Curve, point: [UInt8], _ hash: HashAlgorithm? = nil) throws(CryptoFault) {
        guard point.count == 1 + 2 * curve.fieldSize, point.first == 0x04,
            let key = try? OpenSSLKey(.ec(curve, point: point))
        else { throw CryptoFault("ECDSA: not a point on \(curve)") }
        self.init(key, hash ?? curve.hash)
    }

    /// How an RSA signature is padded.
    public enum RSAPadding: Sendable, Hashable {
        /// RSASSA-PKCS1-v1_5 (RFC 8017 §8.2).
        case pkcs1
        /// RSASSA-PSS with a salt as long as the hash (RFC 8017 §8.1).
        case pss
    }

    /// RSA with a hash.
    ///
    /// - Throws: `CryptoFault` for a modulus of fewer than 1024 bits or more than 16384, an even number, and an exponent
    ///   below 3 or above 33 bits.
    public init(
        rsaModulus modulus: [UInt8], exponent: [UInt8], _ hash: HashAlgorithm, _ padding: RSAPadding
    ) throws(CryptoFault) {
        let (modulus, exponent) = (Array(modulus.drop { $0 == 0 }), Array(exponent.drop { $0 == 0 }))
        let number = exponent.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard (128...2048).contains(modulus.count), modulus.last?.isMultiple(of: 2) == false,
            exponent.count <= 5, (3..<1 << 33).contains(number), !number.isMultiple(of: 2),
            let key = try? OpenSSLKey(.rsa(modulus: modulus, exponent: exponent))
        else { throw CryptoFault("RSA: not a public key") }
        self.init(key, hash, padding: padding == .pss ? YKIT_PSS : YKIT_DEFAULT_PADDING)
    }

    /// Whether the signature over the message was made by the matching private key.
    public func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool { check(signature, message) }

    /// Converts an ECDSA signature of two numbers as long as the curve's field (IEEE P1363, RFC 7518 §3.4) to DER; `nil`
    /// for any other number of bytes.
    package static func derSignature(concatenated bytes: [UInt8], _ curve: Curve) -> [UInt8]? {
        let half = curve.fieldSize
        guard bytes.count == 2 * half else { return nil }
        return DERWriter.sequence(
            DERWriter.number(Array(bytes.prefix(half))), DERWriter.number(Array(bytes.suffix(half))))
    }

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

/// The points of small order on the curves of EdDSA (RFC 8032 §5), in every encoding. Such a public key has no private key of
/// its own: multiplied by the cofactor it is the neutral element, and fixed signatures are valid under it.
enum SmallOrder {
    /// Whether this encodes a point of order 1, 2, 4 or 8 on edwards25519.
    static func contains(ed25519 bytes: [UInt8]) -> Bool { contains(bytes, 32, smallOnEd25519) }

    /// Whether this encodes a point of order 1, 2 or 4 on edwards448.
    static func contains(ed448 bytes: [UInt8]) -> Bool { contains(bytes, 57, smallOnEd448) }

    /// Compares y, without the sign of x, which is the highest bit.
    private static func contains(_ bytes: [UInt8], _ size: Int, _ list: [[UInt8]]) -> Bool {
        guard bytes.count == size, let last = bytes.last else { return false }
        return list.contains(bytes.dropLast() + [last & 0x7F])
    }

    /// y = 0, 1, the two of order 8, and -1. A number that is not below p is no point.
    private static let smallOnEd25519: [[UInt8]] = [
        number([], 32), number([1], 32),
        [
            0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0, 0xD5, 0xDF,
            0xAC,
            0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
        ],
        [
            0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F, 0x2A, 0x20,
            0x53,
            0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
        ],
        [0xEC] + [UInt8](repeating: 0xFF, count: 30) + [0x7F],
    ]

    /// y = 0, 1 and -1.
    private static let smallOnEd448: [[UInt8]] = [
        number([], 57), number([1], 57),
        [0xFE] + [UInt8](repeating: 0xFF, count: 27) + [0xFE] + [UInt8](repeating: 0xFF, count: 27) + [0],
    ]

    private static func number(_ digits: [UInt8], _ size: Int) -> [UInt8] {
        digits + [UInt8](repeating: 0, count: size - digits.count)
    }
}
