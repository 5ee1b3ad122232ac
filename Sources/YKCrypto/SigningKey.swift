// SPDX-License-Identifier: Apache-2.0

import Crypto

/// A private key that signs.
public struct SigningKey: Sendable {
    private enum Key: Sendable {
        case p256(P256.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
    }

    private let key: Key

    /// ECDSA on P-256 with SHA-256; the private number has 32 bytes. Throws when it is zero or not below the order.
    public init(p256 scalar: borrowing Secret) throws(CryptoFault) {
        do { key = .p256(try scalar.withBytes { try P256.Signing.PrivateKey(rawRepresentation: $0) }) } catch {
            throw CryptoFault("P-256: not a private key")
        }
    }

    /// Ed25519 (RFC 8032); any 32 bytes are a private key.
    public init(ed25519 seed: borrowing Secret) throws(CryptoFault) {
        do { key = .ed25519(try seed.withBytes { try Curve25519.Signing.PrivateKey(rawRepresentation: $0) }) } catch {
            throw CryptoFault("Ed25519: not a private key")
        }
    }

    /// The public key: x and y of 32 bytes each on P-256, 32 bytes of Ed25519.
    public var publicKey: [UInt8] {
        switch key {
        case .p256(let key): Array(key.publicKey.rawRepresentation)
        case .ed25519(let key): Array(key.publicKey.rawRepresentation)
        }
    }

    /// Signs a message: DER on P-256, 64 bytes with Ed25519.
    public func sign(_ message: [UInt8]) throws(CryptoFault) -> [UInt8] {
        do {
            return switch key {
            case .p256(let key): Array(try key.signature(for: message).derRepresentation)
            case .ed25519(let key): Array(try key.signature(for: message))
            }
        } catch {
            throw CryptoFault("signing: \(error)")
        }
    }
}
