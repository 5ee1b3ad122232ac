// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// Writes the attestation certificate of a virtual key (RFC 5280 §4.1, WebAuthn Level 3 §8.2.1), signed by its own
/// key: it vouches for nothing but that a virtual key made the credential.
struct SelfSignedAttestation {
    let key: SigningKey
    let aaguid: [UInt8]
    let serial: [UInt8]

    func certificate() throws(CryptoFault) -> [UInt8] {
        let content = self.content
        let signature = try key.sign(content)
        return Self.sequence([content, Self.ecdsaWithSHA256, TLV(0x03, [0] + signature).encoded])
    }

    private var content: [UInt8] {
        Self.sequence([
            TLV(0xA0, TLV(0x02, [2]).encoded).encoded, TLV(0x02, [0x01] + serial).encoded, Self.ecdsaWithSHA256,
            Self.name, Self.sequence([Self.time(0x17, "240101000000Z"), Self.time(0x18, "20740101000000Z")]), Self.name,
            Self.sequence([Self.ecPublicKey, TLV(0x03, [0, 4] + key.publicKey).encoded]), extensions,
        ])
    }

    private var extensions: [UInt8] {
        let constraints = Self.sequence([
            Self.identifier([0x55, 0x1D, 0x13]), [0x01, 0x01, 0xFF], TLV(0x04, Self.sequence([])).encoded,
        ])
        let model = Self.sequence([
            Self.identifier([0x2B, 0x06, 0x01, 0x04, 0x01, 0x82, 0xE5, 0x1C, 0x01, 0x01, 0x04]),
            TLV(0x04, TLV(0x04, aaguid).encoded).encoded,
        ])
        return TLV(0xA3, Self.sequence([constraints, model])).encoded
    }

    private static let name = sequence([
        attribute(6, 0x13, "SE"), attribute(10, 0x0C, "ykit"), attribute(11, 0x0C, "Authenticator Attestation"),
        attribute(3, 0x0C, "ykit virtual key"),
    ])

    private static let ecdsaWithSHA256 = sequence([identifier([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02])])
    private static let ecPublicKey = sequence([
        identifier([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]),
        identifier([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]),
    ])

    private static func sequence(_ parts: [[UInt8]]) -> [UInt8] { TLV(0x30, Array(parts.joined())).encoded }
    private static func identifier(_ bytes: [UInt8]) -> [UInt8] { TLV(0x06, bytes).encoded }
    private static func time(_ tag: TLV.Tag, _ text: String) -> [UInt8] { TLV(tag, Array(text.utf8)).encoded }

    /// One attribute 2.5.4.x of a name.
    private static func attribute(_ number: UInt8, _ type: TLV.Tag, _ text: String) -> [UInt8] {
        let pair = sequence([identifier([0x55, 0x04, number]), TLV(type, Array(text.utf8)).encoded])
        return TLV(0x31, pair).encoded
    }
}
