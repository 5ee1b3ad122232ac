// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// The certificates of the Security Domain's own keys, and the reading of a host's (RFC 5280 §4.1).
enum SecurityDomainCertificates {
    /// A small authority's certificate and one for key agreement, and the authority's key identifier. Keys that the
    /// application made have them from the beginning.
    static func chain(
        _ root: [UInt8], _ leaf: [UInt8], id: UInt8, version: UInt8
    ) throws -> (certificates: [UInt8], issuer: [UInt8]) {
        let rootKey = try PrivateKey(.p256, scalar: Secret(root))
        let leafKey = try PrivateKey(.p256, scalar: Secret(leaf))
        let (issuer, own) = (identifier(rootKey.publicKey), identifier(leafKey.publicKey))
        let name = "ykit virtual SCP root"
        let top = try VirtualCertificate.make(
            rootKey.publicKey, name, signedBy: rootKey, name, serial: [1],
            [VirtualCertificate.authority, usage(0x01, 0x06), subjectKey(issuer)])
        let end = try VirtualCertificate.make(
            leafKey.publicKey, "ykit virtual SCP key \(Hex.encode([id])):\(Hex.encode([version]))", signedBy: rootKey,
            name,
            serial: Array(HashAlgorithm.sha256.hash(leafKey.publicKey.subjectPublicKeyInfo).prefix(8)),
            [usage(0x03, 0x08), subjectKey(own), authorityKey(issuer)])
        return (top + end, issuer)
    }

    private static func identifier(_ key: PublicKey) -> [UInt8] {
        Array(HashAlgorithm.sha256.hash(key.subjectPublicKeyInfo).prefix(20))
    }

    private static func field(_ number: UInt8, _ value: [UInt8]) -> [UInt8] {
        TLV(0x30, [TLV(0x06, [0x55, 0x1D, number]), TLV(0x04, value)].encoded).encoded
    }

    private static func usage(_ unused: UInt8, _ bits: UInt8) -> [UInt8] {
        TLV(
            0x30,
            TLV(0x06, [0x55, 0x1D, 0x0F]).encoded + [0x01, 0x01, 0xFF]
                + TLV(0x04, TLV(0x03, [unused, bits]).encoded).encoded
        ).encoded
    }

    private static func subjectKey(_ identifier: [UInt8]) -> [UInt8] { field(0x0E, TLV(0x04, identifier).encoded) }

    private static func authorityKey(_ identifier: [UInt8]) -> [UInt8] {
        field(0x23, TLV(0x30, TLV(0x80, identifier).encoded).encoded)
    }

    /// A host's certificate, as far as the card looks at it.
    struct Host {
        let serial: [UInt8]
        let point: [UInt8]
        private let signed: [UInt8]
        private let signature: [UInt8]

        init(_ der: [UInt8]) throws(WireError) {
            var outer = ByteReader(der)
            var certificate = try outer.tlv(0x30, "a certificate")
            try outer.finish("the certificate")
            let start = certificate.offset
            var body = try certificate.tlv(0x30, "its content")
            signed = Array(der[start..<certificate.offset])
            _ = try certificate.tlv(0x30, "the algorithm")
            signature = Array(try certificate.value(0x03).dropFirst())
            if body.peek == 0xA0 { _ = try body.tlv() }
            serial = try body.value(0x02)
            for _ in 0..<4 { _ = try body.value(0x30) }
            let info = try body.value(0x30)
            guard info.count >= 65, info[info.count - 65] == 0x04 else {
                throw WireError(.malformed, at: body.offset, "not a point")
            }
            point = Array(info.suffix(65))
        }

        /// Whether it is signed with the private key of a point on P-256, with SHA-256.
        func isSigned(by point: [UInt8]) -> Bool {
            (try? VerificationKey(ecdsa: .p256, point: point))?.isValid(signature, for: signed) ?? false
        }
    }
}
