// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras

/// A private key that signs.
public struct SigningKey: Sendable {
    private enum Key: Sendable {
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
        case p521(P521.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
        case rsa(_RSA.Signing.PrivateKey)
    }

    private let key: Key

    /// ECDSA on P-256 with SHA-256; the private scalar has 32 bytes.
    ///
    /// - Throws: `CryptoFault` when the scalar is zero or not below the order.
    public init(p256 scalar: borrowing Secret) throws(CryptoFault) {
        do { key = .p256(try scalar.withBytes { try P256.Signing.PrivateKey(rawRepresentation: $0) }) } catch {
            throw CryptoFault("P-256: not a private key")
        }
    }

    /// ECDSA on P-384 with SHA-384; the private scalar has 48 bytes.
    public init(p384 scalar: borrowing Secret) throws(CryptoFault) {
        do { key = .p384(try scalar.withBytes { try P384.Signing.PrivateKey(rawRepresentation: $0) }) } catch {
            throw CryptoFault("P-384: not a private key")
        }
    }

    /// ECDSA on P-521 with SHA-512; the private scalar has 66 bytes.
    public init(p521 scalar: borrowing Secret) throws(CryptoFault) {
        do { key = .p521(try scalar.withBytes { try P521.Signing.PrivateKey(rawRepresentation: $0) }) } catch {
            throw CryptoFault("P-521: not a private key")
        }
    }

    /// Ed25519 (RFC 8032); any 32 bytes are a valid private key.
    public init(ed25519 seed: borrowing Secret) throws(CryptoFault) {
        do { key = .ed25519(try seed.withBytes { try Curve25519.Signing.PrivateKey(rawRepresentation: $0) }) } catch {
            throw CryptoFault("Ed25519: not a private key")
        }
    }

    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 §8.2); the key is PKCS #1 or PKCS #8 in DER.
    public init(rsa der: borrowing Secret) throws(CryptoFault) {
        do { key = .rsa(try der.withBytes { try _RSA.Signing.PrivateKey(derRepresentation: Array($0)) }) } catch {
            throw CryptoFault("RSA: not a private key")
        }
    }

    /// The public key: x and y of equal length on a NIST curve, the 32 bytes of Ed25519, or the RSA modulus.
    public var publicKey: [UInt8] {
        switch key {
        case .p256(let key): Array(key.publicKey.rawRepresentation)
        case .p384(let key): Array(key.publicKey.rawRepresentation)
        case .p521(let key): Array(key.publicKey.rawRepresentation)
        case .ed25519(let key): Array(key.publicKey.rawRepresentation)
        case .rsa(let key): (try? key.publicKey.getKeyPrimitives()).map { Array($0.modulus) } ?? []
        }
    }

    /// The RSA public exponent, most significant byte first; empty for other keys.
    public var publicExponent: [UInt8] {
        guard case .rsa(let key) = key, let numbers = try? key.publicKey.getKeyPrimitives() else { return [] }
        return Array(numbers.publicExponent)
    }

    /// Signs a message. The signature is DER on a NIST curve, 64 bytes with Ed25519, and as long as the modulus with
    /// RSA.
    public func sign(_ message: [UInt8]) throws(CryptoFault) -> [UInt8] {
        do {
            switch key {
            case .p256(let key): return Array(try key.signature(for: message).derRepresentation)
            case .p384(let key): return Array(try key.signature(for: message).derRepresentation)
            case .p521(let key): return Array(try key.signature(for: message).derRepresentation)
            case .ed25519(let key): return Array(try key.signature(for: message))
            case .rsa(let key):
                let digest = SHA256.hash(data: message)
                return Array(try key.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation)
            }
        } catch {
            throw CryptoFault("signing: \(error)")
        }
    }

    /// Signs a SHA-256 digest with a key on P-256; the signature is DER.
    ///
    /// - Throws: `CryptoFault` for any other key, and for a digest that is not 32 bytes long.
    package func sign(digest: [UInt8]) throws(CryptoFault) -> [UInt8] {
        guard case .p256(let key) = key, digest.count == Digest256.byteCount else {
            throw CryptoFault("signing a digest: not SHA-256 with a key on P-256")
        }
        do { return Array(try key.signature(for: Digest256(bytes: digest)).derRepresentation) } catch {
            throw CryptoFault("signing: \(error)")
        }
    }
}
