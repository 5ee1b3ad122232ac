// SPDX-License-Identifier: Apache-2.0

/// A COSE public key (RFC 9052 §7, RFC 9053 §7).
public struct COSEKey: Hashable, Sendable {
    /// The key material.
    public enum Material: Hashable, Sendable {
        /// A curve point with two coordinates of the curve's length.
        case ec2(curve: COSECurve, x: [UInt8], y: [UInt8])
        /// A curve point with one coordinate.
        case okp(curve: COSECurve, x: [UInt8])
        /// An RSA modulus and exponent, most significant byte first.
        case rsa(modulus: [UInt8], exponent: [UInt8])
        /// A key of another type, such as ML-DSA; see ``COSEKey/map``.
        case other(type: Int64)
    }

    /// The key's algorithm; `nil` when the key does not specify one.
    public let algorithm: COSEAlgorithm?
    /// The key material.
    public let material: Material
    /// The whole key, including other parameters.
    public let map: CBOR.Map

    /// Creates a key on a curve with two coordinates.
    public init(ec2 curve: COSECurve, algorithm: COSEAlgorithm, x: [UInt8], y: [UInt8]) {
        self.algorithm = algorithm
        material = .ec2(curve: curve, x: x, y: y)
        map = [
            1: 2, 3: .int(algorithm.rawValue), -1: .int(curve.rawValue), -2: .bytes(x), -3: .bytes(y),
        ]
    }

    /// Creates a key on a curve with one coordinate.
    public init(okp curve: COSECurve, algorithm: COSEAlgorithm, x: [UInt8]) {
        self.algorithm = algorithm
        material = .okp(curve: curve, x: x)
        map = [1: 1, 3: .int(algorithm.rawValue), -1: .int(curve.rawValue), -2: .bytes(x)]
    }

    /// Creates an RSA key.
    public init(rsaModulus modulus: [UInt8], exponent: [UInt8], algorithm: COSEAlgorithm) {
        self.algorithm = algorithm
        material = .rsa(modulus: modulus, exponent: exponent)
        map = [1: 3, 3: .int(algorithm.rawValue), -1: .bytes(modulus), -2: .bytes(exponent)]
    }

    init(algorithm: COSEAlgorithm?, material: Material, map: CBOR.Map) {
        self.algorithm = algorithm
        self.material = material
        self.map = map
    }

    /// The uncompressed point (SEC 1 §2.3.3) of a key with two coordinates: 04, x, y.
    public var uncompressedPoint: [UInt8]? {
        guard case .ec2(_, let x, let y) = material else { return nil }
        return [0x04] + x + y
    }
}
