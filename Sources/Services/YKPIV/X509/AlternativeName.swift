// SPDX-License-Identifier: Apache-2.0

import YKWire

/// A subject alternative name (RFC 5280 §4.2.1.6).
public struct AlternativeName: Hashable, Sendable {
    /// The name as in the extension: its kind as a tag, and ASCII or an address.
    let object: TLV

    /// Parses `dns:example.com`, `email:a@example.com`, `uri:https://example.com`, `ip:192.0.2.1` or `ip:2001:db8::1`.
    ///
    /// - Throws: `invalidName`.
    public init(_ text: String) throws(PIVError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[1].isEmpty, parts[1].utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .invalidName("\(text) is not an alternative name, as in dns:example.com")
        }
        guard let tag = Self.kinds.first(where: { $0.name == parts[0].lowercased() })?.tag else {
            throw .invalidName("\(parts[0]) is not a kind of name; dns, email, uri and ip are")
        }
        guard tag == Self.address else {
            object = TLV(tag, Array(parts[1].utf8))
            return
        }
        guard let bytes = InternetAddress.bytes(parts[1]) else {
            throw .invalidName("\(parts[1]) is not an address")
        }
        object = TLV(tag, bytes)
    }

    /// The value of the extension, DER.
    static func encoded(_ names: [AlternativeName]) -> [UInt8] { TLV(0x30, names.map(\.object).encoded).encoded }

    /// The names in the value of the extension that have a text form.
    static func texts(_ value: [UInt8]) -> [String] {
        guard let list = (try? TLV.list(value))?.first, list.tag == 0x30, let names = try? TLV.list(list.value) else {
            return []
        }
        return names.compactMap { name in
            guard let kind = kinds.first(where: { $0.tag == name.tag }) else { return nil }
            if kind.tag == address { return "\(kind.name):\(InternetAddress.text(name.value))" }
            guard name.value.allSatisfy({ $0 < 0x80 }) else { return nil }
            return "\(kind.name):\(String(decoding: name.value, as: UTF8.self))"
        }
    }

    private static let address: TLV.Tag = 0x87
    private static let kinds: [(name: String, tag: TLV.Tag)] = [
        ("email", 0x81), ("dns", 0x82), ("uri", 0x86), ("ip", address),
    ]
}
