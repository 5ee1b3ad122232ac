// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire
import YKX509

/// Certificates made here, field by field.
struct Sample {
    var version: [UInt8] = TLV(0xA0, TLV(0x02, [2]).encoded).encoded
    var serial = TLV(0x02, [0x05])
    var algorithm = Self.ed25519
    var outerAlgorithm = Self.ed25519
    var issuer = Self.name("CA")
    var validity = [TLV(0x17, Array("240101000000Z".utf8)), TLV(0x18, Array("20740101000000Z".utf8))]
    var subject = Self.name("Alice")
    var key: [UInt8] = PublicKey.ed25519([UInt8](repeating: 9, count: 32)).subjectPublicKeyInfo
    var identifiers: [TLV] = []
    var extensions: [[UInt8]] = []
    var extra: [UInt8] = []
    var signature: [UInt8] = [0x00, 0x01, 0x02]

    static let ed25519: [UInt8] = [0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70]

    static func name(_ text: String) -> [UInt8] {
        let attribute = TLV(0x30, OID("2.5.4.3").encoded + TLV(0x0C, Array(text.utf8)).encoded)
        return TLV(0x30, TLV(0x31, attribute.encoded).encoded).encoded
    }

    static func entry(_ type: OID, _ value: [UInt8], isCritical: Bool = false) -> [UInt8] {
        let critical: [UInt8] = isCritical ? [0x01, 0x01, 0xFF] : []
        return TLV(0x30, type.encoded + critical + TLV(0x04, value).encoded).encoded
    }

    /// A certificate with one extension.
    static func with(_ type: OID, _ value: [UInt8]) throws -> X509Certificate {
        try X509Certificate(der: Sample(extensions: [entry(type, value)]).der)
    }

    var signedPart: [UInt8] {
        var fields = [version, serial.encoded, algorithm, issuer, TLV(0x30, validity.encoded).encoded, subject, key]
        fields += [identifiers.encoded]
        if !extensions.isEmpty {
            fields.append(TLV(0xA3, TLV(0x30, Array(extensions.joined())).encoded).encoded)
        }
        return TLV(0x30, Array(fields.joined()) + extra).encoded
    }

    var der: [UInt8] { TLV(0x30, signedPart + outerAlgorithm + TLV(0x03, signature).encoded).encoded }
}
