// SPDX-License-Identifier: Apache-2.0

import Crypto

/// One side of a Diffie-Hellman agreement on P-256 (NIST SP 800-56A §5.7.1.2).
public struct P256KeyAgreement: Sendable {
    private let key: P256.KeyAgreement.PrivateKey

    /// Takes a private number of 32 bytes, most significant first. Throws when it is zero or not below the order.
    public init(scalar: borrowing Secret) throws(CryptoFault) {
        do { key = try scalar.withBytes { try P256.KeyAgreement.PrivateKey(rawRepresentation: $0) } } catch {
            throw CryptoFault("P-256: not a private key")
        }
    }

    /// The public point: x and y of 32 bytes each, one after the other.
    public var publicPoint: [UInt8] { Array(key.publicKey.rawRepresentation) }

    /// The x coordinate of the common point with another side's public point of 64 bytes. Throws when that point is
    /// not on the curve.
    public func shared(with point: [UInt8]) throws(CryptoFault) -> Secret {
        do {
            let peer = try P256.KeyAgreement.PublicKey(rawRepresentation: point)
            let secret = try key.sharedSecretFromKeyAgreement(with: peer)
            var bytes = secret.withUnsafeBytes { Array($0) }
            defer { Secret.wipe(&bytes) }
            return Secret(bytes)
        } catch {
            throw CryptoFault("P-256: the other side's key is not a point on the curve")
        }
    }
}
