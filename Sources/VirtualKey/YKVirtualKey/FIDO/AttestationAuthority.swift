// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// Creates the attestation certificates of a virtual key (RFC 5280 §4.1, WebAuthn Level 3 §8.2.1). They are issued by a
/// small authority of the key's own, which vouches only that a virtual key made the credential.
struct AttestationAuthority {
    let key: PrivateKey

    /// The authority's own certificate.
    func root(serial: [UInt8]) throws(CryptoFault) -> [UInt8] {
        try certificate(
            of: key, serial, Self.rootName, [constraints(isAuthority: true), Self.signsCertificates])
    }

    /// A certificate for an attestation key: for a batch, or for a single key if `device` is its serial number.
    func leaf(
        for leaf: PrivateKey, serial: [UInt8], aaguid: [UInt8], transports: UInt8, device: UInt32? = nil
    ) throws(CryptoFault) -> [UInt8] {
        let model = Self.sequence([
            Self.identifier([0x2B, 0x06, 0x01, 0x04, 0x01, 0x82, 0xE5, 0x1C, 0x01, 0x01, 0x04]),
            TLV(0x04, TLV(0x04, aaguid).encoded).encoded,
        ])
        // The transports of the key: a bit string, USB is bit 2 and NFC bit 3 (FIDO U2F Authenticator Transports 1.2 §3).
        let transports = Self.sequence([
            Self.identifier([0x2B, 0x06, 0x01, 0x04, 0x01, 0x82, 0xE5, 0x1C, 0x02, 0x01, 0x01]),
            TLV(0x04, TLV(0x03, [0x04, transports]).encoded).encoded,
        ])
        let name = device.map { "ykit virtual key \($0)" } ?? "ykit virtual key batch"
        return try certificate(of: leaf, serial, Self.name(name), [constraints(isAuthority: false), model, transports])
    }

    private func certificate(
        of subject: PrivateKey, _ serial: [UInt8], _ name: [UInt8], _ extensions: [[UInt8]]
    ) throws(CryptoFault) -> [UInt8] {
        let content = Self.sequence([
            TLV(0xA0, TLV(0x02, [2]).encoded).encoded, TLV(0x02, [0x01] + serial).encoded, Self.ecdsaWithSHA256,
            Self.rootName, Self.sequence([Self.time(0x17, "240101000000Z"), Self.time(0x18, "20740101000000Z")]), name,
            subject.publicKey.subjectPublicKeyInfo,
            TLV(0xA3, Self.sequence(extensions)).encoded,
        ])
        let signature = try key.sign(content)
        return Self.sequence([content, Self.ecdsaWithSHA256, TLV(0x03, [0] + signature).encoded])
    }

    private func constraints(isAuthority: Bool) -> [UInt8] {
        let value = Self.sequence(isAuthority ? [[0x01, 0x01, 0xFF]] : [])
        return Self.sequence([Self.identifier([0x55, 0x1D, 0x13]), [0x01, 0x01, 0xFF], TLV(0x04, value).encoded])
    }

    /// keyUsage: keyCertSign and cRLSign; the last bit of the byte is unused.
    private static let signsCertificates = sequence([
        identifier([0x55, 0x1D, 0x0F]), [0x01, 0x01, 0xFF], TLV(0x04, TLV(0x03, [0x01, 0x06]).encoded).encoded,
    ])

    private static let rootName = name("ykit virtual key root", unit: "Root")

    private static func name(_ common: String, unit: String = "Authenticator Attestation") -> [UInt8] {
        sequence([
            attribute(6, 0x13, "SE"), attribute(10, 0x0C, "ykit"), attribute(11, 0x0C, unit),
            attribute(3, 0x0C, common),
        ])
    }

    private static let ecdsaWithSHA256 = sequence([identifier([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02])])

    private static func sequence(_ parts: [[UInt8]]) -> [UInt8] { TLV(0x30, Array(parts.joined())).encoded }
    private static func identifier(_ bytes: [UInt8]) -> [UInt8] { TLV(0x06, bytes).encoded }
    private static func time(_ tag: TLV.Tag, _ text: String) -> [UInt8] { TLV(tag, Array(text.utf8)).encoded }

    /// An attribute 2.5.4.x of a name.
    private static func attribute(_ number: UInt8, _ type: TLV.Tag, _ text: String) -> [UInt8] {
        let pair = sequence([identifier([0x55, 0x04, number]), TLV(type, Array(text.utf8)).encoded])
        return TLV(0x31, pair).encoded
    }
}
