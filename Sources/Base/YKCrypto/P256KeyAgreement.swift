// SPDX-License-Identifier: Apache-2.0

import Crypto

/// One side of a Diffie-Hellman agreement on P-256 (NIST SP 800-56A §5.7.1.2).
public struct P256KeyAgreement: Sendable {
    private let key: P256.KeyAgreement.PrivateKey

    /// Creates one side from a 32-byte private scalar, most significant byte first.
    ///
    /// - Throws: `CryptoFault` when it is zero or not below the order.
    public init(scalar: borrowing Secret) throws(CryptoFault) {
        do { key = try scalar.withBytes { try P256.KeyAgreement.PrivateKey(rawRepresentation: $0) } } catch {
            throw CryptoFault("P-256: not a private key")
        }
    }

    /// The public point: x and y of 32 bytes each, concatenated.
    public var publicPoint: [UInt8] { Array(key.publicKey.rawRepresentation) }

    /// Returns the x coordinate of the point shared with a peer whose public point has 64 bytes.
    ///
    /// - Throws: `CryptoFault` when the peer's point is not on the curve.
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

/// The two forms of a point on P-256 (SEC 1 §2.3.3).
public enum P256Point {
    /// Converts a point of 33 bytes (02 or 03, x) to 65 bytes (04, x, y).
    ///
    /// - Throws: `CryptoFault` when the point is not on the curve.
    public static func uncompressed(_ point: [UInt8]) throws(CryptoFault) -> [UInt8] {
        do { return Array(try P256.KeyAgreement.PublicKey(compressedRepresentation: point).x963Representation) } catch {
            throw CryptoFault("P-256: not a compressed point on the curve")
        }
    }

    /// Converts a point of 65 bytes (04, x, y) to 33 bytes (02 or 03, x).
    ///
    /// - Throws: `CryptoFault` when the point is not on the curve.
    public static func compressed(_ point: [UInt8]) throws(CryptoFault) -> [UInt8] {
        do { return Array(try P256.KeyAgreement.PublicKey(x963Representation: point).compressedRepresentation) } catch {
            throw CryptoFault("P-256: not a point on the curve")
        }
    }
}
