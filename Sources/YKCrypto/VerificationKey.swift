// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras

/// A public key that checks signatures.
public struct VerificationKey: Sendable {
    private let check: @Sendable (_ signature: [UInt8], _ message: [UInt8]) -> Bool

    /// How an RSA signature is padded.
    public enum RSAPadding: Sendable, Hashable {
        /// RSASSA-PKCS1-v1_5 (RFC 8017 §8.2).
        case pkcs1
        /// RSASSA-PSS with a salt as long as the hash (RFC 8017 §8.1).
        case pss
    }

    /// A NIST curve.
    public enum Curve: Sendable, Hashable {
        /// P-256, with SHA-256.
        case p256
        /// P-384, with SHA-384.
        case p384
        /// P-521, with SHA-512.
        case p521
    }

    /// ECDSA with the hash that belongs to the curve; the signature is DER. `point` is 04, x, y. Throws when it is
    /// not on the curve.
    public init(ecdsa curve: Curve, point: [UInt8]) throws(CryptoFault) {
        do {
            switch curve {
            case .p256:
                let key = try P256.Signing.PublicKey(x963Representation: point)
                check = { signature, message in
                    guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature) else {
                        return false
                    }
                    return key.isValidSignature(signature, for: message)
                }
            case .p384:
                let key = try P384.Signing.PublicKey(x963Representation: point)
                check = { signature, message in
                    guard let signature = try? P384.Signing.ECDSASignature(derRepresentation: signature) else {
                        return false
                    }
                    return key.isValidSignature(signature, for: message)
                }
            case .p521:
                let key = try P521.Signing.PublicKey(x963Representation: point)
                check = { signature, message in
                    guard let signature = try? P521.Signing.ECDSASignature(derRepresentation: signature) else {
                        return false
                    }
                    return key.isValidSignature(signature, for: message)
                }
            }
        } catch {
            throw CryptoFault("ECDSA: not a point on \(curve)")
        }
    }

    /// Ed25519 (RFC 8032); the key is 32 bytes, the signature 64.
    public init(ed25519 bytes: [UInt8]) throws(CryptoFault) {
        do {
            let key = try Curve25519.Signing.PublicKey(rawRepresentation: bytes)
            check = { signature, message in key.isValidSignature(signature, for: message) }
        } catch {
            throw CryptoFault("Ed25519: not a public key")
        }
    }

    /// RSA with a hash. Throws for keys that the library refuses, such as those below 1024 bits.
    public init(
        rsaModulus modulus: [UInt8], exponent: [UInt8], _ hash: HashAlgorithm, _ padding: RSAPadding
    ) throws(CryptoFault) {
        do {
            let key = try _RSA.Signing.PublicKey(n: modulus, e: exponent)
            let padding: _RSA.Signing.Padding = padding == .pss ? .PSS : .insecurePKCS1v1_5
            check = { signature, message in
                let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
                return switch hash {
                case .sha1:
                    key.isValidSignature(signature, for: Insecure.SHA1.hash(data: message), padding: padding)
                case .sha256: key.isValidSignature(signature, for: SHA256.hash(data: message), padding: padding)
                case .sha384: key.isValidSignature(signature, for: SHA384.hash(data: message), padding: padding)
                case .sha512: key.isValidSignature(signature, for: SHA512.hash(data: message), padding: padding)
                }
            }
        } catch {
            throw CryptoFault("RSA: not a public key")
        }
    }

    /// Whether the signature over the message was made by the private key that belongs to this one.
    public func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool { check(signature, message) }
}
