// SPDX-License-Identifier: Apache-2.0

import YKWire

extension DistinguishedName {
    /// The name in the form of RFC 4514, the last part first; a value that is not a string is in hexadecimal.
    public var description: String {
        parts.reversed().map { part in part.map { $0.description }.listed(by: "+") }.listed(by: ",")
    }

    /// Escapes a value for use in a name (RFC 4514 §2.4): a backslash precedes characters with a meaning of their own,
    /// and spaces at the beginning and end.
    ///
    /// - Parameters:
    ///   - value: The plain value, such as `Smith, Alice`.
    ///   - space: A space at the beginning or end; `\20` where readers drop such spaces.
    public static func escaped(_ value: String, space: String = "\\ ") -> String {
        let characters = Array(value.utf8)
        let lastVisible = characters.lastIndex { $0 != UInt8(ascii: " ") } ?? -1
        var bytes: [UInt8] = []
        var isStart = true
        for (index, byte) in characters.enumerated() {
            isStart = isStart && (byte == UInt8(ascii: " ") || byte == UInt8(ascii: "#"))
            if byte == UInt8(ascii: " "), isStart || index > lastVisible {
                bytes += space.utf8
                continue
            }
            if isStart || special.contains(byte) { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let special = Array(",+\"\\<>;".utf8)

    /// The first common name in the string form of a name; `nil` if it has none, or is malformed.
    package static func commonName(in text: String) -> String? {
        var parser = NameParser(text)
        guard let attributes = try? parser.parse().joined() else { return nil }
        for case .text(let name) in attributes.filter({ $0.type == commonNameType }).map(\.value) { return name }
        return nil
    }

    private static let commonNameType: OID = "2.5.4.3"
}

extension DistinguishedName.Attribute: CustomStringConvertible {
    /// The attribute in the form of RFC 4514 §2.3.
    public var description: String {
        (Self.shortNames[type] ?? type.description) + "="
            + (text.map { DistinguishedName.escaped($0) } ?? "#" + Hex.encode(value.encoded))
    }

    /// The string (X.680 §8.6); `nil` for a value of another type. TeletexString is read as Latin 1, which is what
    /// certificates in practice contain.
    public var text: String? {
        let bytes = value.value
        switch value.tag {
        case 0x0C: return String(validating: bytes, as: UTF8.self)
        case 0x12, 0x13, 0x16, 0x1A:
            return bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil
        case 0x14: return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        case 0x1E where bytes.count.isMultiple(of: 2):
            let units = stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
            return String(validating: units, as: UTF16.self)
        case 0x1C where bytes.count.isMultiple(of: 4):
            let scalars = stride(from: 0, to: bytes.count, by: 4).map { at in
                Unicode.Scalar(bytes[at..<at + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
            }
            return scalars.contains(nil) ? nil : String(String.UnicodeScalarView(scalars.compactMap(\.self)))
        default: return nil
        }
    }

    /// The short names (RFC 4514 §3) and E for an email address.
    private static let shortNames: [OID: String] = [
        "2.5.4.3": "CN", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.9": "STREET", "2.5.4.10": "O",
        "2.5.4.11": "OU", "0.9.2342.19200300.100.1.25": "DC", "0.9.2342.19200300.100.1.1": "UID",
        "1.2.840.113549.1.9.1": "E",
    ]
}
