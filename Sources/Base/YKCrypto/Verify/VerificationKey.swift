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
}

extension VerificationKey {
    /// Converts an ECDSA signature of two numbers as long as the curve's field (IEEE P1363, RFC 7518 §3.4) to DER; `nil`
    /// for any other number of bytes.
    package static func derSignature(concatenated bytes: [UInt8], _ curve: Curve) -> [UInt8]? {
        let half = curve.fieldSize
        guard bytes.count == 2 * half else { return nil }
        return DERWriter.sequence(
            DERWriter.number(Array(bytes.prefix(half))), DERWriter.number(Array(bytes.suffix(half))))
    }
}
