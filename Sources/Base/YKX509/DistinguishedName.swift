// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A distinguished name (RFC 5280 §4.1.2.4). As a string (RFC 4514) the most specific part comes first:
/// `CN=Alice,O=Example,C=DE`.
public struct DistinguishedName: Hashable, Sendable, CustomStringConvertible {
    /// One attribute of a name.
    public struct Attribute: Hashable, Sendable {
        /// The type, such as `2.5.4.3` for a common name.
        public let type: OID
        /// Its value, usually of a string type.
        public let value: TLV
    }

    /// The name, DER.
    public let encoded: [UInt8]
    /// The parts in the order of the encoding, the most general one first, each with one or more attributes.
    let parts: [[Attribute]]

    /// The attributes in the order of the encoding, the most general one first.
    public var attributes: [Attribute] { Array(parts.joined()) }

    /// Maximum length of the string, in bytes.
    private static let limit = 4096

    /// Reads a name, DER.
    ///
    /// - Throws: `WireError` for anything but sets of attributes. The values of attributes are not checked.
    public init(der: [UInt8]) throws(WireError) {
        var reader = ByteReader(der)
        var name = try reader.der(0x30, "a name")
        try reader.finish("the name")
        var parts: [[Attribute]] = []
        while !name.isAtEnd {
            var part = try name.der(0x31, "a part of a name")
            var attributes: [Attribute] = []
            while !part.isAtEnd {
                var attribute = try part.der(0x30, "an attribute")
                attributes.append(
                    Attribute(type: try attribute.derOID("the type of an attribute"), value: try attribute.der()))
                try attribute.finish("the attribute")
            }
            parts.append(attributes)
        }
        (encoded, self.parts) = (der, parts)
    }

    /// Parses the string form of RFC 4514.
    ///
    /// - Throws: `X509NameError` with the reason.
    public init(_ text: String) throws(X509NameError) {
        guard text.utf8.count <= Self.limit else { throw X509NameError("longer than \(Self.limit) bytes") }
        var parser = NameParser(text)
        var content: [UInt8] = []
        for part in try parser.parse().reversed() {
            let attributes = try part.map { attribute throws(X509NameError) in
                if let problem = attribute.lengthProblem { throw X509NameError(problem) }
                guard let encoded = attribute.encoded else {
                    throw X509NameError("\(text) cannot be written into a certificate")
                }
                return encoded
            }
            content += TLV(0x31, Array(attributes.sorted { $0.lexicographicallyPrecedes($1) }.joined())).encoded
        }
        do { self = try DistinguishedName(der: TLV(0x30, content).encoded) } catch {
            throw X509NameError("\(text) cannot be written into a certificate")
        }
    }
}

extension NameParser.Attribute {
    /// The attribute, DER (RFC 5280 §4.1.2.4); `nil` if the string has characters that its type does not allow.
    fileprivate var encoded: [UInt8]? {
        guard let value = encodedValue else { return nil }
        return TLV(0x30, type.encoded + value).encoded
    }

    private var encodedValue: [UInt8]? {
        switch value {
        case .text(let text): return allows(text) ? TLV(textTag, Array(text.utf8)).encoded : nil
        case .der(let bytes):
            var reader = ByteReader(bytes)
            guard let object = try? reader.der(), reader.isAtEnd, !object.value.isEmpty else { return nil }
            return DistinguishedName.Attribute(type: type, value: object).text.map(allows) ?? true ? bytes : nil
        }
    }

    /// The string type of this attribute (RFC 5280 appendix A.1).
    private var textTag: TLV.Tag {
        if Self.printable.contains(type) { return 0x13 }
        return Self.internationalASCII.contains(type) ? 0x16 : 0x0C
    }

    /// Whether the attribute may hold a string, in whichever string type: a `#` value must parse back.
    private func allows(_ text: String) -> Bool {
        switch textTag {
        case 0x13: Self.isPlain(text) && text.utf8.allSatisfy(Self.isPrintable)
        case 0x16: Self.isPlain(text) && text.utf8.allSatisfy { $0 < 0x80 }
        default: Self.isPlain(text)
        }
    }

    /// Whether a string is readable: not empty (X.520 §6), and without control characters; programs that end a string
    /// at NUL would see a different name from the signed one.
    private static func isPlain(_ text: String) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }

    /// Why a string is too long or too short for its attribute (RFC 5280 appendix A.1); `nil` if it is neither.
    fileprivate var lengthProblem: String? {
        let text: String?
        switch value {
        case .text(let own): text = own
        case .der(let bytes):
            var reader = ByteReader(bytes)
            text = (try? reader.der()).flatMap { DistinguishedName.Attribute(type: type, value: $0).text }
        }
        guard let count = text?.unicodeScalars.count else { return nil }
        if type == Self.country { return count == 2 ? nil : "a country (C) has two letters, such as DE" }
        guard let (name, limit) = Self.limits[type], count > limit else { return nil }
        return "\(name) has \(count) characters; a certificate may have at most \(limit) there"
    }

    private static let country: OID = "2.5.4.6"

    /// The maximum number of characters of an attribute, by its name in the string form.
    private static let limits: [OID: (name: String, limit: Int)] = [
        "2.5.4.3": ("CN", 64), "2.5.4.5": ("serialNumber", 64), "2.5.4.7": ("L", 128), "2.5.4.8": ("ST", 128),
        "2.5.4.10": ("O", 64), "2.5.4.11": ("OU", 64), "2.5.4.12": ("title", 64), "2.5.4.65": ("pseudonym", 128),
        "1.2.840.113549.1.9.1": ("E", 255),
    ]

    /// Country, serial number and dnQualifier.
    private static let printable: Set<OID> = [country, "2.5.4.5", "2.5.4.46"]

    /// Domain component and email address.
    private static let internationalASCII: Set<OID> = ["0.9.2342.19200300.100.1.25", "1.2.840.113549.1.9.1"]

    /// Whether PrintableString allows the character (X.680 §41.4).
    private static func isPrintable(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: Array(" '()+,-./:=?".utf8).contains(byte)
        }
    }
}

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

/// Why a string is not a distinguished name or an alternative name.
public struct X509NameError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason, in a few words.
    public let reason: String

    init(_ reason: String) { self.reason = reason }

    /// The reason.
    public var description: String { reason }
}
