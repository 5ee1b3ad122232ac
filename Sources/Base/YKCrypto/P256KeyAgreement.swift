// SPDX-License-Identifier: Apache-2.0

import COpenSSL

/// One side of a Diffie-Hellman agreement on P-256 (NIST SP 800-56A §5.7.1.2).
public struct P256KeyAgreement: Sendable {
    private static let scalarSize = VerificationKey.Curve.p256.fieldSize
    private let key: PrivateKey
    /// The public point: x and y of 32 bytes each, concatenated.
    public let publicPoint: [UInt8]

    /// Creates one side from a 32-byte private scalar, most significant byte first.
    ///
    /// - Throws: `CryptoFault` when it is zero or not below the order.
    public init(scalar: borrowing Secret) throws(CryptoFault) {
        guard scalar.count == Self.scalarSize, let key = try? PrivateKey(.p256, scalar: scalar),
            case .ec(_, let point) = key.publicKey
        else { throw CryptoFault("P-256: not a private key") }
        self.key = key
        publicPoint = Array(point.dropFirst())
    }

    /// Returns the x coordinate of the point shared with a peer whose public point has 64 bytes.
    ///
    /// - Throws: `CryptoFault` when the peer's point is not on the curve.
    public func shared(with point: [UInt8]) throws(CryptoFault) -> Secret {
        guard point.count == 2 * Self.scalarSize,
            let secret = try? key.shared(with: .ec(.p256, point: [0x04] + point))
        else { throw CryptoFault("P-256: the other side's key is not a point on the curve") }
        return secret.value.copy()
    }
}

/// The two forms of a point on P-256 (SEC 1 §2.3.3).
public enum P256Point {
    /// Converts a point of 33 bytes (02 or 03, x) to 65 bytes (04, x, y).
    ///
    /// - Throws: `CryptoFault` when the point is not on the curve.
    public static func uncompressed(_ point: [UInt8]) throws(CryptoFault) -> [UInt8] {
        let fault = "P-256: not a compressed point on the curve"
        guard point.count == 33 else { throw CryptoFault(fault) }
        return try OpenSSL.output(65, fault) { ykit_p256_point(point, point.count, 0, $0, $1) }
    }

    /// Converts a point of 65 bytes (04, x, y) to 33 bytes (02 or 03, x).
    ///
    /// - Throws: `CryptoFault` when the point is not on the curve.
    public static func compressed(_ point: [UInt8]) throws(CryptoFault) -> [UInt8] {
        let fault = "P-256: not a point on the curve"
        guard point.count == 65, point.first == 0x04 else { throw CryptoFault(fault) }
        return try OpenSSL.output(33, fault) { ykit_p256_point(point, point.count, 1, $0, $1) }
    }
}
