// SPDX-License-Identifier: Apache-2.0

/// An elliptic curve (IANA registry "COSE Elliptic Curves").
public struct COSECurve: OpenSet {
    /// The number in the registry.
    public let rawValue: Int64
    /// Wraps a number.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// NIST P-256.
    public static let p256 = COSECurve(rawValue: 1)
    /// NIST P-384.
    public static let p384 = COSECurve(rawValue: 2)
    /// NIST P-521.
    public static let p521 = COSECurve(rawValue: 3)
    /// X25519, for key agreement.
    public static let x25519 = COSECurve(rawValue: 4)
    /// Ed25519.
    public static let ed25519 = COSECurve(rawValue: 6)
    /// Ed448.
    public static let ed448 = COSECurve(rawValue: 7)
    /// secp256k1.
    public static let secp256k1 = COSECurve(rawValue: 8)

    /// The size of a coordinate or a compressed point, in bytes; `nil` for a curve that is not listed here.
    public var coordinateSize: Int? {
        switch self {
        case .p256, .secp256k1, .x25519, .ed25519: 32
        case .p384: 48
        case .p521: 66
        case .ed448: 57
        default: nil
        }
    }

    /// The usual name, else the number.
    public var description: String {
        switch self {
        case .p256: "P-256"
        case .p384: "P-384"
        case .p521: "P-521"
        case .x25519: "X25519"
        case .ed25519: "Ed25519"
        case .ed448: "Ed448"
        case .secp256k1: "secp256k1"
        default: "curve \(rawValue)"
        }
    }
}
