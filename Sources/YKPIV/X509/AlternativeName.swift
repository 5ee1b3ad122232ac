// SPDX-License-Identifier: Apache-2.0

import SwiftASN1
import X509
import YKWire

/// Another name of a subject (RFC 5280 §4.2.1.6).
public struct AlternativeName: Hashable, Sendable {
    let name: GeneralName

    /// Reads `dns:example.com`, `email:a@example.com`, `uri:https://example.com`, `ip:192.0.2.1` or `ip:2001:db8::1`.
    /// Throws `invalidName`.
    public init(_ text: String) throws(PIVError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[1].isEmpty, parts[1].utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .invalidName("\(text) is not an alternative name, as in dns:example.com")
        }
        switch parts[0].lowercased() {
        case "dns": name = .dnsName(parts[1])
        case "email": name = .rfc822Name(parts[1])
        case "uri": name = .uniformResourceIdentifier(parts[1])
        case "ip":
            guard let bytes = InternetAddress.bytes(parts[1]) else {
                throw .invalidName("\(parts[1]) is not an address")
            }
            name = .ipAddress(ASN1OctetString(contentBytes: bytes[...]))
        default: throw .invalidName("\(parts[0]) is not a kind of name; dns, email, uri and ip are")
        }
    }

    /// The value of the extension, DER.
    static func encoded(_ names: [AlternativeName]) throws(PIVError) -> [UInt8] {
        do {
            let names = SubjectAlternativeNames(names.map(\.name))
            return Array(try Certificate.Extension(names, critical: false).value)
        } catch { throw .invalidName("the alternative names cannot be written into a certificate") }
    }

    /// The names in the value of the extension, as far as they are of kinds that have a text.
    static func texts(_ value: [UInt8]) -> [String] {
        let known = Certificate.Extension(oid: [2, 5, 29, 17], critical: false, value: value[...])
        guard let names = try? SubjectAlternativeNames(known) else { return [] }
        return names.compactMap { name in
            switch name {
            case .dnsName(let text): "dns:\(text)"
            case .rfc822Name(let text): "email:\(text)"
            case .uniformResourceIdentifier(let text): "uri:\(text)"
            case .ipAddress(let bytes): "ip:\(InternetAddress.text(Array(bytes.bytes)))"
            default: nil
            }
        }
    }
}
