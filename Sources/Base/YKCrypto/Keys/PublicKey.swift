// SPDX-License-Identifier: Apache-2.0

import COpenSSL

/// A public key: RSA of any length, elliptic curves, Ed25519 and X25519.
public enum PublicKey: Hashable, Sendable {
    /// RSA: modulus and public exponent, most significant byte first, without leading zeros.
    case rsa(modulus: [UInt8], exponent: [UInt8])
    /// A point: 04, x, y.
    case ec(VerificationKey.Curve, point: [UInt8])
    /// Ed25519 (RFC 8032): 32 bytes.
    case ed25519([UInt8])
    /// X25519 (RFC 7748): 32 bytes.
    case x25519([UInt8])

    /// The signature scheme.
    public enum Padding: Sendable, Hashable {
        /// The default for the kind of key: RSASSA-PKCS1-v1_5, ECDSA or Ed25519.
        case `default`
        /// RSASSA-PSS.
        case pss
    }

    /// Reads a SubjectPublicKeyInfo (RFC 5280 §4.1.2.7), DER.
    ///
    /// - Throws: `CryptoFault` for other kinds of keys and for points not on their curve.
    public init(subjectPublicKeyInfo der: [UInt8]) throws(CryptoFault) {
        if let key = Self.common(der) { self = key } else { self = try PublicKey(of: OpenSSLKey(publicDER: der)) }
    }

    /// Reads an RSAPublicKey (RFC 8017 §A.1.1), DER.
    ///
    /// - Throws: `CryptoFault` for anything else.
    public init(rsaPublicKey der: [UInt8]) throws(CryptoFault) {
        let key = try PublicKey(
            subjectPublicKeyInfo: DERWriter.sequence(DERWriter.rsaEncryption, DERWriter.bits(der)))
        guard case .rsa = key else { throw CryptoFault("not an RSA public key") }
        self = key
    }

    init(of key: OpenSSLKey) throws(CryptoFault) {
        switch try key.text(ykit_key_kind) {
        case "RSA": self = .rsa(modulus: try key.number("n"), exponent: try key.number("e"))
        case "EC":
            guard let curve = VerificationKey.Curve.named(try key.text(ykit_key_curve)) else {
                throw CryptoFault("a key on an unsupported curve")
            }
            let x = try key.number("qx")
            let y = try key.number("qy")
            self = .ec(curve, point: [0x04] + x.padded(to: curve.fieldSize) + y.padded(to: curve.fieldSize))
        case "ED25519": self = .ed25519(try key.bytes("pub"))
        case "X25519": self = .x25519(try key.bytes("pub"))
        case let name: throw CryptoFault("a key of unsupported type \(name)")
        }
    }

    /// The SubjectPublicKeyInfo (RFC 5280 §4.1.2.7), DER.
    public var subjectPublicKeyInfo: [UInt8] {
        switch self {
        case .rsa(let modulus, let exponent):
            let key = DERWriter.sequence(DERWriter.number(modulus), DERWriter.number(exponent))
            return DERWriter.sequence(DERWriter.rsaEncryption, DERWriter.bits(key))
        case .ec(let curve, let point):
            return DERWriter.sequence(curve.algorithm, DERWriter.bits(point))
        case .ed25519(let bytes): return DERWriter.sequence(DERWriter.ed25519, DERWriter.bits(bytes))
        case .x25519(let bytes): return DERWriter.sequence(DERWriter.x25519, DERWriter.bits(bytes))
        }
    }

    /// The RSA public operation (RFC 8017 §5.1.1, §5.2.2) on a block as long as the modulus.
    public func rsaPublic(_ block: [UInt8]) throws(CryptoFault) -> [UInt8] {
        let key = try OpenSSLKey(self)
        return try OpenSSL.output(block.count, "RSA: the block does not fit the key") {
            ykit_key_rsa_public(key.handle, block, block.count, $0, $1)
        }
    }

    /// Whether a private key's raw operation on a block gave this result. The block is the padded block of RSA, the
    /// digest that ECDSA signs, as long as the curve's field, or the message of Ed25519.
    ///
    /// - Returns: `nil` where that cannot be checked: for X25519, and for a point that is not on its curve.
    public func isResult(_ result: [UInt8], of block: [UInt8]) -> Bool? {
        switch self {
        case .rsa: return (try? rsaPublic(result)) == block
        case .ec:
            guard let key = try? OpenSSLKey(self) else { return nil }
            return ykit_key_verify_digest(key.handle, result, result.count, block, block.count) == 1
        case .ed25519(let bytes):
            return (try? VerificationKey(ed25519: bytes))?.isValid(result, for: block) ?? false
        case .x25519: return nil
        }
    }

    /// Whether a signature over a message was made by the matching private key. Ed25519 ignores `hash`; ECDSA
    /// signatures are DER. Also false for an invalid key.
    public func isValid(
        _ signature: [UInt8], for message: [UInt8], _ hash: HashAlgorithm, _ padding: Padding = .default
    ) -> Bool {
        switch self {
        case .ed25519(let bytes):
            return (try? VerificationKey(ed25519: bytes))?.isValid(signature, for: message) ?? false
        case .x25519: return false
        case .rsa, .ec:
            let padding = padding == .pss ? YKIT_PSS_ANY_SALT : YKIT_DEFAULT_PADDING
            return (try? OpenSSLKey(self))?.isValid(signature, for: message, hash, padding: padding) ?? false
        }
    }
}

extension [UInt8] {
    /// The number in `count` bytes: padded with zeros in front, or stripped of excess leading zeros.
    package func padded(to count: Int) -> [UInt8] {
        let digits = drop { $0 == 0 }
        return [UInt8](repeating: 0, count: Swift.max(0, count - digits.count)) + digits
    }
}

extension PublicKey {
    /// Reads a key in the form that this package writes, as nearly all keys are; returns `nil` for all others. OpenSSL only
    /// checks points: its decoders take longer than some security keys do to answer.
    static func common(_ der: [UInt8]) -> PublicKey? {
        guard let key = parsed(der), key.subjectPublicKeyInfo == der, key.isPoint else { return nil }
        return key
    }

    /// Reads a SubjectPublicKeyInfo (RFC 5280 §4.1.2.7) without validating its values.
    private static func parsed(_ der: [UInt8]) -> PublicKey? {
        var reader = DERReader(der)
        guard var info = reader.object(0x30), reader.isAtEnd, let algorithm = info.object(0x30),
            var bits = info.object(0x03), info.isAtEnd, bits.byte() == 0
        else { return nil }
        switch DERWriter.sequence(Array(algorithm.rest)) {
        case DERWriter.ed25519: return bits.rest.count == 32 ? .ed25519(Array(bits.rest)) : nil
        case DERWriter.x25519: return bits.rest.count == 32 ? .x25519(Array(bits.rest)) : nil
        case DERWriter.rsaEncryption:
            guard var key = bits.object(0x30), bits.isAtEnd, let modulus = key.number(), let exponent = key.number(),
                key.isAtEnd, modulus.count >= 128, !exponent.isEmpty
            else { return nil }
            return .rsa(modulus: modulus, exponent: exponent)
        case let other:
            guard let curve = VerificationKey.Curve.of(algorithm: other), bits.rest.count == 1 + 2 * curve.fieldSize
            else { return nil }
            return .ec(curve, point: Array(bits.rest))
        }
    }

    /// Whether the key is a point on its curve (SEC 1 §3.2.2, RFC 8032 §5.1.3). True for RSA, and for X25519, where any
    /// bytes are a key (RFC 7748 §5).
    public var isPoint: Bool {
        switch self {
        case .rsa, .x25519: true
        case .ec, .ed25519: (try? OpenSSLKey(self)) != nil
        }
    }
}
