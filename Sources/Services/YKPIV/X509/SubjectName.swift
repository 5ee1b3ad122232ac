// SPDX-License-Identifier: Apache-2.0

import YKWire

/// A distinguished name in string form (RFC 4514): `CN=Alice,O=Example,C=DE`, the most specific part first.
public struct SubjectName: Hashable, Sendable, CustomStringConvertible {
    /// The name, DER (RFC 5280 §4.1.2.4).
    package let encoded: [UInt8]

    /// Maximum length of the string, in bytes.
    static let limit = 4096

    /// Parses the string form of RFC 4514.
    ///
    /// - Throws: `invalidName` with the reason.
    public init(_ text: String) throws(PIVError) {
        guard text.utf8.count <= Self.limit else { throw .invalidName("longer than \(Self.limit) bytes") }
        var parser = NameParser(text)
        var content: [UInt8] = []
        for part in try parser.parse().reversed() {
            let attributes = try part.map { attribute throws(PIVError) in
                guard let encoded = attribute.encoded else {
                    throw .invalidName("\(text) cannot be written into a certificate")
                }
                return encoded
            }
            content += TLV(0x31, Array(attributes.sorted { $0.lexicographicallyPrecedes($1) }.joined())).encoded
        }
        encoded = TLV(0x30, content).encoded
    }

    /// The name in the form of RFC 4514.
    public var description: String { Self.text(encoded) }

    /// Escapes a value for use in a name: a backslash precedes each character with a meaning of its own (RFC 4514 §2.4).
    ///
    /// - Parameters:
    ///   - value: The plain value, such as `Smith, Alice`.
    public static func escaped(_ value: String) -> String {
        var text = ""
        for sign in value {
            if ",+\"\\<>;=#".contains(sign) || sign == " " && text.isEmpty { text.append("\\") }
            text.append(sign)
        }
        return value.count > 1 && value.hasSuffix(" ") ? text.dropLast() + "\\ " : text
    }

    /// A certificate's name in the form of RFC 4514; its bytes in hexadecimal if it cannot be parsed.
    static func text(_ der: [UInt8]) -> String { (try? NameReader(der).text()) ?? "#" + Hex.encode(der) }
}

extension NameParser.Attribute {
    /// The attribute, DER (RFC 5280 §4.1.2.4); `nil` if the string has characters that its type does not allow.
    fileprivate var encoded: [UInt8]? {
        guard let value = encodedValue else { return nil }
        return TLV(0x30, TLV(0x06, ObjectIdentifier.bytes(type)).encoded + value).encoded
    }

    private var encodedValue: [UInt8]? {
        switch value {
        case .text(let text): return allows(text) ? TLV(textTag, Array(text.utf8)).encoded : nil
        case .der(let bytes):
            guard let object = (try? TLV.list(bytes))?.first, object.encoded == bytes else { return nil }
            guard !object.value.isEmpty else { return nil }
            let text = NameReader.string(object).flatMap { String(validating: $0, as: UTF8.self) }
            return text.map(allows) ?? true ? bytes : nil
        }
    }

    /// The string type of this attribute (RFC 5280 appendix A.1).
    private var textTag: TLV.Tag {
        if type == Self.country { return 0x13 }
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
    /// at NUL would see another name than the signed one.
    private static func isPlain(_ text: String) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }

    private static let country = "2.5.4.6"

    /// Domain component and e-mail address.
    private static let internationalASCII: Set = ["0.9.2342.19200300.100.1.25", "1.2.840.113549.1.9.1"]

    /// Whether PrintableString allows the character (X.680 §41.4).
    private static func isPrintable(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: Array(" '()+,-./:=?".utf8).contains(byte)
        }
    }
}
