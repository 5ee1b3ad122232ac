// SPDX-License-Identifier: Apache-2.0

/// The few DER structures that keys are wrapped in (X.690 §10).
enum DERWriter {
    static func object(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        let isShort = content.count < 0x80
        let head = isShort ? [UInt8(content.count)] : [0x80 | UInt8(truncatingIfNeeded: length.count)] + length
        return [tag] + head + content
    }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { object(0x30, Array(parts.joined())) }
    static func octets(_ bytes: [UInt8]) -> [UInt8] { object(0x04, bytes) }
    static func bits(_ bytes: [UInt8]) -> [UInt8] { object(0x03, [0] + bytes) }

    /// A number without a sign, most significant byte first.
    static func number(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        guard let first = digits.first else { return object(0x02, [0]) }
        return object(0x02, first & 0x80 != 0 ? [0] + digits : digits)
    }

    static let rsaEncryption: [UInt8] = [
        0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]
    static let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    static let ed25519: [UInt8] = [0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70]
    static let x25519: [UInt8] = [0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x6E]
}
