// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Formats the DER of a distinguished name (RFC 5280 §4.1.2.4) according to RFC 4514.
struct NameReader {
    private let der: [UInt8]

    init(_ der: [UInt8]) { self.der = der }

    /// The text, the last part first.
    func text() throws(WireError) -> String {
        var outer = ByteReader(der)
        var name = try outer.tlv(0x30, "a name")
        try outer.finish("the name")
        var parts: [String] = []
        while !name.isAtEnd {
            var part = try name.tlv(0x31, "a part of the name")
            var attributes: [String] = []
            while !part.isAtEnd { attributes.append(try Self.attribute(&part)) }
            parts.append(attributes.joined(separator: "+"))
        }
        return Array(parts.reversed()).joined(separator: ",")
    }

    private static func attribute(_ part: inout ByteReader) throws(WireError) -> String {
        var attribute = try part.tlv(0x30, "an attribute")
        var type = try attribute.tlv(0x06, "its type")
        let value = try attribute.tlv()
        try attribute.finish("the attribute")
        let name = ObjectIdentifier.text(type.rest())
        return (shortNames[name] ?? name) + "=" + text(value)
    }

    /// The value with special characters escaped (RFC 4514 §2.4); in hexadecimal if it is not a string.
    private static func text(_ value: TLV) -> String {
        guard let text = string(value) else { return "#" + Hex.encode(value.encoded) }
        let lastVisible = text.lastIndex { $0 != UInt8(ascii: " ") } ?? -1
        var bytes: [UInt8] = []
        var isStart = true
        for (index, byte) in text.enumerated() {
            isStart = isStart && (byte == UInt8(ascii: " ") || byte == UInt8(ascii: "#"))
            if isStart || index > lastVisible || special.contains(byte) { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The contents of a string (X.680 §8.6) in UTF-8; `nil` for another type. TeletexString is read as Latin 1, which
    /// is what certificates in practice contain.
    static func string(_ value: TLV) -> [UInt8]? {
        let bytes = value.value
        switch value.tag {
        case 0x0C: return String(validating: bytes, as: UTF8.self) == nil ? nil : bytes
        case 0x12, 0x13, 0x16, 0x1A: return bytes.allSatisfy { $0 < 0x80 } ? bytes : nil
        case 0x14: return bytes.flatMap { Array(String(Unicode.Scalar($0)).utf8) }
        case 0x1E where bytes.count.isMultiple(of: 2):
            let units = stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
            return String(validating: units, as: UTF16.self).map { Array($0.utf8) }
        default: return nil
        }
    }

    private static let special = Array(",+\"\\<>;".utf8)

    /// The short names (RFC 4514 §3) and E for an e-mail address.
    private static let shortNames = [
        "2.5.4.3": "CN", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.9": "STREET", "2.5.4.10": "O",
        "2.5.4.11": "OU", "0.9.2342.19200300.100.1.25": "DC", "1.2.840.113549.1.9.1": "E",
    ]
}
