// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// Creates the certificates signed by virtual keys: version 3, valid for fifty years, SHA-256.
enum VirtualCertificate {
    static func make(
        _ key: PublicKey, _ subject: String, signedBy signer: PrivateKey, _ issuer: String, serial: [UInt8],
        _ extensions: [[UInt8]]
    ) throws -> [UInt8] {
        try make(key, subject, signedBy: signer, issuerName: name(issuer), serial: serial, extensions)
    }

    static func make(
        _ key: PublicKey, _ subject: String, signedBy signer: PrivateKey, issuerName: [UInt8], serial: [UInt8],
        _ extensions: [[UInt8]]
    ) throws -> [UInt8] {
        let number = [(serial.first ?? 0) & 0x7F | 0x01] + serial.dropFirst()
        let content = sequence([
            TLV(0xA0, TLV(0x02, [2]).encoded).encoded, TLV(0x02, number).encoded, algorithm(signer), issuerName,
            sequence([TLV(0x17, Array("240101000000Z".utf8)).encoded, TLV(0x18, Array("20740101000000Z".utf8)).encoded]
            ),
            name(subject), key.subjectPublicKeyInfo, TLV(0xA3, sequence(extensions)).encoded,
        ])
        let signature = try signer.sign(content, .sha256)
        return sequence([content, algorithm(signer), TLV(0x03, [0] + signature).encoded])
    }

    /// The basic constraints of a certificate authority.
    static let authority = sequence([
        identifier([0x55, 0x1D, 0x13]), [0x01, 0x01, 0xFF], TLV(0x04, sequence([[0x01, 0x01, 0xFF]])).encoded,
    ])

    /// One of Yubico's extensions 1.3.6.1.4.1.41482.x.y.
    static func fact(_ number: [UInt8], _ value: [UInt8]) -> [UInt8] {
        sequence([
            identifier([0x2B, 0x06, 0x01, 0x04, 0x01, 0x82, 0xC4, 0x0A] + number), TLV(0x04, value).encoded,
        ])
    }

    /// The signature algorithm with SHA-256 for a key: the attestation key may have been replaced by one of another
    /// type.
    private static func algorithm(_ key: PrivateKey) -> [UInt8] {
        switch key.publicKey {
        case .rsa:
            sequence([identifier([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B]), [0x05, 0x00]])
        case .ec: sequence([identifier([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02])])
        case .ed25519, .x25519: sequence([identifier([0x2B, 0x65, 0x70])])
        }
    }

    /// The DER-encoded subject of a certificate; `nil` if it is not one.
    static func subject(of certificate: [UInt8]) -> [UInt8]? {
        guard let outer = try? TLV.list(certificate).first, let body = try? TLV.list(outer.value).first,
            let fields = try? TLV.list(body.value)
        else { return nil }
        let place = fields.first?.tag == 0xA0 ? 5 : 4
        return fields.indices.contains(place) ? fields[place].encoded : nil
    }

    static func name(_ text: String) -> [UInt8] {
        let pair = sequence([identifier([0x55, 0x04, 0x03]), TLV(0x0C, Array(text.utf8)).encoded])
        return sequence([TLV(0x31, pair).encoded])
    }

    private static func sequence(_ parts: [[UInt8]]) -> [UInt8] { TLV(0x30, Array(parts.joined())).encoded }
    private static func identifier(_ bytes: [UInt8]) -> [UInt8] { TLV(0x06, bytes).encoded }
}
