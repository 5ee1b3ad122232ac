// SPDX-License-Identifier: Apache-2.0

import SwiftASN1
import X509
import YKWire

/// A distinguished name as people write it (RFC 4514): `CN=Alice,O=Example,C=DE`, the most special part first.
public struct SubjectName: Hashable, Sendable, CustomStringConvertible {
    private let name: DistinguishedName
    /// The name, DER.
    let der: [UInt8]

    /// The longest text, in bytes.
    static let limit = 4096

    /// Reads a text after RFC 4514. Throws `invalidName` with the reason.
    public init(_ text: String) throws(PIVError) {
        guard text.utf8.count <= Self.limit else { throw .invalidName("longer than \(Self.limit) bytes") }
        var parser = NameParser(text)
        let parts = try parser.parse()
        do {
            name = DistinguishedName(
                try parts.reversed().map { part in
                    RelativeDistinguishedName(try part.map { try Self.attribute($0) })
                })
            der = try Self.encoded(name)
        } catch { throw .invalidName("\(text) cannot be written into a certificate") }
    }

    /// The name after RFC 4514.
    public var description: String { name.description }

    /// A name of a certificate after RFC 4514; its bytes in hexadecimal when it cannot be read.
    static func text(_ der: [UInt8]) -> String {
        guard let node = try? DER.parse(der), let name = try? DistinguishedName(derEncoded: node) else {
            return "#" + Hex.encode(der)
        }
        return name.description
    }

    private static func encoded(_ name: DistinguishedName) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try name.serialize(into: &serializer)
        return serializer.serializedBytes
    }

    private static let internationalASCII: Set<ASN1ObjectIdentifier> = [
        .RDNAttributeType.domainComponent, .RDNAttributeType.emailAddress,
    ]

    private static func attribute(_ part: NameParser.Attribute) throws -> RelativeDistinguishedName.Attribute {
        let type = try ASN1ObjectIdentifier(dotRepresentation: part.type)
        switch part.value {
        case .text(let text) where type == .RDNAttributeType.countryName:
            return try RelativeDistinguishedName.Attribute(type: type, printableString: text)
        case .text(let text) where internationalASCII.contains(type):
            return try RelativeDistinguishedName.Attribute(type: type, ia5String: text)
        case .text(let text): return RelativeDistinguishedName.Attribute(type: type, utf8String: text)
        case .der(let bytes):
            return RelativeDistinguishedName.Attribute(type: type, value: try ASN1Any(derEncoded: bytes))
        }
    }
}
