// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Parses the string form of a distinguished name (RFC 4514 §3), left to right.
struct NameParser {
    /// One attribute.
    struct Attribute: Hashable {
        let type: OID
        let value: Value
    }

    enum Value: Hashable {
        case text(String)
        /// After `#`: the whole DER object.
        case der([UInt8])
    }

    private var rest: ArraySlice<UInt8>

    init(_ text: String) { rest = Array(text.utf8)[...] }

    /// The parts in the order of the string, each with one or more attributes.
    mutating func parse() throws(X509NameError) -> [[Attribute]] {
        var parts: [[Attribute]] = []
        var part: [Attribute] = []
        while true {
            part.append(try attribute())
            switch rest.popFirst() {
            case UInt8(ascii: "+"): continue
            case UInt8(ascii: ","), UInt8(ascii: ";"):
                parts.append(part)
                part = []
            case nil:
                parts.append(part)
                return parts
            default: throw X509NameError("expected a comma or plus")
            }
        }
    }

    private mutating func skipSpaces() { rest = rest.drop { $0 == 0x20 } }

    private mutating func attribute() throws(X509NameError) -> Attribute {
        skipSpaces()
        guard let equals = rest.firstIndex(of: UInt8(ascii: "=")) else {
            throw X509NameError("a part needs a name and a value, as in CN=Alice")
        }
        let name = String(decoding: rest[..<equals], as: UTF8.self).trimmed.uppercased()
        rest = rest[(equals + 1)...]
        guard !name.hasPrefix("/") else {
            throw X509NameError("the parts of a name are separated by commas, as in CN=Alice,O=Example (RFC 4514)")
        }
        guard let type = Self.types[name] ?? OID(name.hasPrefix("OID.") ? String(name.dropFirst(4)) : name) else {
            throw X509NameError("unknown attribute \(name); known are CN, O, OU, C and others")
        }
        skipSpaces()
        return Attribute(type: type, value: rest.first == UInt8(ascii: "#") ? try hexadecimal() : try text())
    }

    private mutating func hexadecimal() throws(X509NameError) -> Value {
        rest = rest.dropFirst()
        let digits = rest.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: ";") }
        rest = rest.dropFirst(digits.count)
        guard let bytes = try? Hex.decode(String(decoding: digits, as: UTF8.self).trimmed), !bytes.isEmpty else {
            throw X509NameError("expected hexadecimal digits after #")
        }
        return .der(bytes)
    }

    private mutating func text() throws(X509NameError) -> Value {
        var bytes: [UInt8] = []
        var kept = 0  // Spaces that were not escaped do not count at the end.
        let isQuoted = rest.first == UInt8(ascii: "\"")
        if isQuoted { rest = rest.dropFirst() }
        loop: while let byte = rest.first {
            switch byte {
            case UInt8(ascii: "\\"):
                rest = rest.dropFirst()
                bytes.append(try escaped())
                kept = bytes.count
                continue loop
            case UInt8(ascii: "\"") where isQuoted:
                rest = rest.dropFirst()
                skipSpaces()
                return try valid(bytes)
            case UInt8(ascii: ","), UInt8(ascii: "+"), UInt8(ascii: ";"):
                if !isQuoted { break loop }
            case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), 0x00:
                if !isQuoted || byte == 0 { throw X509NameError("this character needs a backslash before it") }
            default: break
            }
            bytes.append(byte)
            rest = rest.dropFirst()
            if byte != 0x20 { kept = bytes.count }
        }
        if isQuoted { throw X509NameError("a quotation mark is not closed") }
        return try valid(Array(bytes[..<kept]))
    }

    private func valid(_ bytes: [UInt8]) throws(X509NameError) -> Value {
        guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty else {
            throw X509NameError("a value is empty or not UTF-8")
        }
        return .text(text)
    }

    /// The characters after a backslash: two hexadecimal digits, or a special character.
    private mutating func escaped() throws(X509NameError) -> UInt8 {
        if let byte = try? Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self)).first, rest.count >= 2 {
            rest = rest.dropFirst(2)
            return byte
        }
        guard let byte = rest.popFirst(), Array(" \"#+,;<=>\\".utf8).contains(byte) else {
            throw X509NameError("a backslash before a character that needs none")
        }
        return byte
    }

    /// The short names (RFC 4514 §3, and those that OpenSSL and ykman accept).
    private static let types: [String: OID] = [
        "CN": "2.5.4.3", "SN": "2.5.4.4", "SERIALNUMBER": "2.5.4.5", "C": "2.5.4.6", "L": "2.5.4.7", "ST": "2.5.4.8",
        "S": "2.5.4.8", "STREET": "2.5.4.9", "O": "2.5.4.10", "OU": "2.5.4.11", "TITLE": "2.5.4.12", "T": "2.5.4.12",
        "SURNAME": "2.5.4.4", "DESCRIPTION": "2.5.4.13", "BUSINESSCATEGORY": "2.5.4.15", "POSTALCODE": "2.5.4.17",
        "NAME": "2.5.4.41", "INITIALS": "2.5.4.43", "GENERATIONQUALIFIER": "2.5.4.44", "DNQUALIFIER": "2.5.4.46",
        "PSEUDONYM": "2.5.4.65", "ORGANIZATIONIDENTIFIER": "2.5.4.97",
        "GN": "2.5.4.42", "GIVENNAME": "2.5.4.42", "DC": "0.9.2342.19200300.100.1.25",
        "UID": "0.9.2342.19200300.100.1.1", "EMAIL": "1.2.840.113549.1.9.1", "EMAILADDRESS": "1.2.840.113549.1.9.1",
        "E": "1.2.840.113549.1.9.1",
    ]
}
