// SPDX-License-Identifier: Apache-2.0

extension VerificationKey.Curve {
    /// The size of a coordinate and of a private scalar, in bytes.
    public var fieldSize: Int {
        switch self {
        case .p256, .secp256k1, .brainpoolP256: 32
        case .p384, .brainpoolP384: 48
        case .brainpoolP512: 64
        case .p521: 66
        }
    }

    /// The curve with OpenSSL's name.
    static func named(_ name: String) -> Self? {
        let curves: [String: Self] = [
            "prime256v1": .p256, "secp384r1": .p384, "secp521r1": .p521, "secp256k1": .secp256k1,
            "brainpoolP256r1": .brainpoolP256, "brainpoolP384r1": .brainpoolP384, "brainpoolP512r1": .brainpoolP512,
        ]
        return curves[name]
    }

    /// The object identifier, DER (RFC 5480 §2.1.1.1, RFC 5639 §4).
    var identifier: [UInt8] { DERWriter.object(0x06, objectIdentifier) }

    /// The content of the object identifier.
    public var objectIdentifier: [UInt8] {
        switch self {
        case .p256: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        case .p384: [0x2B, 0x81, 0x04, 0x00, 0x22]
        case .p521: [0x2B, 0x81, 0x04, 0x00, 0x23]
        case .secp256k1: [0x2B, 0x81, 0x04, 0x00, 0x0A]
        case .brainpoolP256: [0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x07]
        case .brainpoolP384: [0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x0B]
        case .brainpoolP512: [0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x0D]
        }
    }
}
