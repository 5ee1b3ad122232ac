// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension COSEKey {
    /// The key as SubjectPublicKeyInfo (RFC 5280 §4.1.2.7), DER; `nil` for key types that are not supported.
    public var subjectPublicKeyInfo: [UInt8]? {
        switch material {
        case .ec2(.p256, let x, let y): Self.elliptic([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07], x, y)
        case .ec2(.p384, let x, let y): Self.elliptic([0x2B, 0x81, 0x04, 0x00, 0x22], x, y)
        case .ec2(.p521, let x, let y): Self.elliptic([0x2B, 0x81, 0x04, 0x00, 0x23], x, y)
        case .ec2(.secp256k1, let x, let y): Self.elliptic([0x2B, 0x81, 0x04, 0x00, 0x0A], x, y)
        case .okp(.ed25519, let x): Self.info([Self.object([0x2B, 0x65, 0x70])], x)
        case .okp(.ed448, let x): Self.info([Self.object([0x2B, 0x65, 0x71])], x)
        case .rsa(let modulus, let exponent):
            Self.info(
                [Self.object([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]), [0x05, 0x00]],
                Self.element(0x30, Self.integer(modulus) + Self.integer(exponent)))
        default: nil
        }
    }

    private static func elliptic(_ curve: [UInt8], _ x: [UInt8], _ y: [UInt8]) -> [UInt8] {
        info([object([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]), object(curve)], [0x04] + x + y)
    }

    private static func info(_ algorithm: [[UInt8]], _ key: [UInt8]) -> [UInt8] {
        element(0x30, element(0x30, algorithm.flatMap { $0 }) + element(0x03, [0x00] + key))
    }

    private static func object(_ identifier: [UInt8]) -> [UInt8] { element(0x06, identifier) }

    /// A non-negative number, in the fewest bytes.
    private static func integer(_ magnitude: [UInt8]) -> [UInt8] {
        let bytes = Array(magnitude.drop { $0 == 0 })
        return element(0x02, (bytes.first ?? 0x80) & 0x80 == 0 ? bytes : [0x00] + bytes)
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: content.count + 4)
        writer.byte(tag)
        switch content.count {
        case ..<0x80: writer.bigEndian(UInt64(content.count), 1)
        case ..<0x100: writer.append([0x81, UInt8(truncatingIfNeeded: content.count)])
        default:
            writer.byte(0x82)
            writer.bigEndian(UInt64(content.count), 2)
        }
        writer.append(content)
        return writer.bytes
    }
}
