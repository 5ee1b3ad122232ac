// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Reads the DER of a certificate (RFC 5280 §4.1).
struct CertificateReader {
    private let der: [UInt8]

    init(_ der: [UInt8]) { self.der = der }

    func read() throws(WireError) -> PIVCertificate {
        guard der.count <= 1 << 20 else { throw WireError(.tooLarge, at: 0, "a certificate of \(der.count) bytes") }
        var outer = ByteReader(der)
        var certificate = try outer.tlv(0x30, "a certificate")
        try outer.finish("the certificate")
        let signed = try whole(&certificate)
        let algorithm = try whole(&certificate)
        var bits = try certificate.tlv(0x03, "the signature")
        guard try bits.byte("unused bits") == 0 else {
            throw WireError(.malformed, at: bits.offset, "a signature that is not whole bytes")
        }
        try certificate.finish("the certificate")
        var content = ByteReader(signed)
        var body = try content.tlv(0x30, "the certificate's content")
        if body.peek == 0xA0 { _ = try body.tlv(0xA0, "the version") }
        var serial = try body.tlv(0x02, "the serial number")
        guard try whole(&body) == algorithm else {
            throw WireError(.malformed, at: body.offset, "two different signature algorithms")
        }
        let issuer = try whole(&body)
        var validity = try body.tlv(0x30, "the validity")
        let (start, end) = (try Self.time(&validity), try Self.time(&validity))
        let subject = try whole(&body)
        let key = try whole(&body)
        return PIVCertificate(
            der: der, serial: serial.rest(), names: (issuer, subject), validity: (start, end), key: key,
            extensions: try Self.extensions(&body), signed: signed, signature: bits.rest(),
            signatureAlgorithm: SignatureAlgorithm(der: algorithm))
    }

    /// One object including its tag and length.
    private func whole(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        let tag = try reader.tlvTag()
        let content = try reader.bytes(try reader.tlvLength(), "tag \(tag)")
        return TLV(tag, content).encoded
    }

    private static func extensions(_ body: inout ByteReader) throws(WireError) -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for object in try body.tlvs() where object.tag == 0xA3 {
            var list = ByteReader(object.value)
            var entries = try list.tlv(0x30, "the extensions")
            while !entries.isAtEnd {
                var entry = try entries.tlv(0x30, "an extension")
                var name = try entry.tlv(0x06, "its name")
                guard let value = try entry.tlvs().value(0x04) else {
                    throw WireError(.missing, at: entry.offset, "an extension without a value")
                }
                found[ObjectIdentifier.text(name.rest())] = value
            }
        }
        return found
    }

    private static func time(_ reader: inout ByteReader) throws(WireError) -> Int64 {
        let start = reader.offset
        let object = try reader.tlv()
        guard let time = DERTime.seconds(object) else {
            throw WireError(.malformed, at: start, "not a time")
        }
        return time
    }
}
