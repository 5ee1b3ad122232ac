// SPDX-License-Identifier: Apache-2.0

extension VerificationKey.Curve {
    /// One coordinate of a point, and a private number, in bytes.
    public var fieldSize: Int {
        switch self {
        case .p256: 32
        case .p384: 48
        case .p521: 66
        }
    }

    /// OpenSSL's name.
    static func named(_ name: String) -> Self? {
        ["prime256v1": .p256, "secp384r1": .p384, "secp521r1": .p521][name]
    }

    /// The object identifier, DER (RFC 5480 §2.1.1.1).
    var identifier: [UInt8] {
        switch self {
        case .p256: [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        case .p384: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]
        case .p521: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23]
        }
    }
}
