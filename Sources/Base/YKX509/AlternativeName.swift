// SPDX-License-Identifier: Apache-2.0

import YKWire

/// A subject alternative name (RFC 5280 §4.2.1.6).
public struct AlternativeName: Hashable, Sendable {
    /// The name as in the extension: its kind as a tag, and ASCII or an address.
    let object: TLV

    /// Parses `dns:example.com`, `email:a@example.com`, `uri:https://example.com`, `ip:192.0.2.1` or `ip:2001:db8::1`.
    ///
    /// - Throws: `X509NameError`.
    public init(_ text: String) throws(X509NameError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[1].isEmpty, parts[1].utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw X509NameError("\(text) is not an alternative name, as in dns:example.com")
        }
        guard let tag = Self.kinds.first(where: { $0.name == parts[0].lowercased() })?.tag else {
            throw X509NameError("\(parts[0]) is not a kind of name; dns, email, uri and ip are")
        }
        guard tag == Self.address else {
            object = TLV(tag, Array(parts[1].utf8))
            return
        }
        guard let bytes = InternetAddress.bytes(parts[1]) else {
            throw X509NameError("\(parts[1]) is not an address")
        }
        object = TLV(tag, bytes)
    }

    init(_ object: TLV) { self.object = object }

    /// The name as in `dns:example.com`; `nil` for other kinds of names, and for one that is not ASCII.
    public var text: String? {
        guard let kind = Self.kinds.first(where: { $0.tag == object.tag }) else { return nil }
        if kind.tag == Self.address { return "\(kind.name):\(InternetAddress.text(object.value))" }
        guard object.value.allSatisfy({ $0 < 0x80 }) else { return nil }
        return "\(kind.name):\(String(decoding: object.value, as: UTF8.self))"
    }

    /// The domain name; `nil` for other kinds of names.
    package var domainName: String? {
        object.tag == 0x82 ? String(decoding: object.value, as: UTF8.self) : nil
    }

    /// The directory name; `nil` for other kinds of names, and for one that is malformed.
    package var directoryName: DistinguishedName? {
        object.tag == 0xA4 ? try? DistinguishedName(der: object.value) : nil
    }

    /// The value of the extension, DER.
    package static func encoded(_ names: [AlternativeName]) -> [UInt8] {
        TLV(0x30, names.map(\.object).encoded).encoded
    }

    private static let address: TLV.Tag = 0x87
    private static let kinds: [(name: String, tag: TLV.Tag)] = [
        ("email", 0x81), ("dns", 0x82), ("uri", 0x86), ("ip", address),
    ]
}
