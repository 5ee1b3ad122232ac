// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKWire

/// A certificate of a Security Domain key, parsed as far as a secure channel needs it (RFC 5280 §4.1).
public struct SCPCertificate: Sendable, Hashable {
    /// The whole certificate, DER.
    public let der: [UInt8]
    /// The encoded serial number, most significant byte first.
    public let serial: [UInt8]
    /// The public key: 04, x, y of a point on P-256.
    public let publicPoint: [UInt8]
    /// The subject key identifier, if present.
    public let subjectKeyID: [UInt8]?
    /// The authority key identifier, if present.
    public let authorityKeyID: [UInt8]?
    /// The first byte of the key usage, if the certificate has one: keyAgreement is 08.
    public let keyUsage: UInt8?

    private static let limit = 1 << 16
    /// SubjectPublicKeyInfo up to the point: id-ecPublicKey, prime256v1.
    private static let p256: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    /// Decodes a certificate of a key on P-256.
    public init(der: [UInt8]) throws(WireError) {
        guard der.count <= Self.limit else { throw WireError(.tooLarge, at: 0, "a certificate of \(der.count) bytes") }
        self.der = der
        var outer = ByteReader(der)
        var certificate = try outer.tlv(0x30, "a certificate")
        try outer.finish("the certificate")
        var body = try certificate.tlv(0x30, "its content")
        if body.peek == 0xA0 { _ = try body.tlv(0xA0, "the version") }
        var serial = try body.tlv(0x02, "the serial number")
        self.serial = serial.rest()
        for what in ["the signature algorithm", "the issuer", "the validity", "the subject"] {
            _ = try body.tlv(0x30, what)
        }
        let key = body.offset
        _ = try body.tlv(0x30, "the public key")
        let info = Array(der[key..<body.offset])
        guard info.count == Self.p256.count + 65, info.starts(with: Self.p256), info[Self.p256.count] == 0x04 else {
            throw WireError(.malformed, at: key, "not a key on P-256")
        }
        publicPoint = Array(info.dropFirst(Self.p256.count))
        let extensions = try Self.extensions(&body)
        subjectKeyID = try extensions[0x0E].map { value throws(WireError) in
            var reader = ByteReader(value)
            var identifier = try reader.tlv(0x04, "the subject key identifier")
            return identifier.rest()
        }
        authorityKeyID = try extensions[0x23].flatMap { value throws(WireError) in
            var reader = ByteReader(value)
            var sequence = try reader.tlv(0x30, "the authority key identifier")
            return try sequence.tlvs().value(0x80)
        }
        keyUsage = try extensions[0x0F].map { value throws(WireError) in
            var reader = ByteReader(value)
            var bits = try reader.tlv(0x03, "the key usage")
            _ = try bits.byte("unused bits")
            return bits.isAtEnd ? 0 : try bits.byte("the key usage")
        }
    }

    /// The values of the extensions 2.5.29.x, by x.
    private static func extensions(_ body: inout ByteReader) throws(WireError) -> [UInt8: [UInt8]] {
        var found: [UInt8: [UInt8]] = [:]
        for object in try body.tlvs() where object.tag == 0xA3 {
            var list = ByteReader(object.value)
            var entries = try list.tlv(0x30, "the extensions")
            while !entries.isAtEnd {
                var entry = try entries.tlv(0x30, "an extension")
                let parts = try entry.tlvs()
                let name = try parts.required(0x06, "name of an extension")
                guard name.count == 3, name.starts(with: [0x55, 0x1D]) else { continue }
                found[name[2]] = try parts.required(0x04, "value of an extension")
            }
        }
        return found
    }

    /// Splits concatenated certificates.
    ///
    /// - Returns: The unmodified certificates, at most 16.
    public static func split(_ bytes: [UInt8]) throws(WireError) -> [[UInt8]] {
        var reader = ByteReader(bytes)
        var found: [[UInt8]] = []
        while !reader.isAtEnd {
            let start = reader.offset
            _ = try reader.tlv(0x30, "a certificate")
            guard found.count < 16 else { throw WireError(.tooLarge, at: start, "more than 16 certificates") }
            found.append(Array(bytes[start..<reader.offset]))
        }
        return found
    }
}
