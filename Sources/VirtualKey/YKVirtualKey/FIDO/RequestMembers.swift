// SPDX-License-Identifier: Apache-2.0

import YKWire

// The maps inside requests. A member of the wrong type is refused, not treated as absent.

/// The options of makeCredential and getAssertion; others are ignored.
struct RequestOptions: Sendable {
    /// rk: whether the credential is to be discoverable.
    var isResident: Bool?
    /// up: whether the user must be present.
    var presence: Bool?
    /// uv: whether the key itself must verify the user.
    var verification: Bool?

    init(_ options: CBOR.Map?) throws(WireError) {
        isResident = try options?.member("rk", \.bool)
        presence = try options?.member("up", \.bool)
        verification = try options?.member("uv", \.bool)
    }
}

extension CBOR.Map {
    /// The value of a member, `nil` if it is absent.
    func member<Value>(_ name: CBOR, _ read: (CBOR) -> Value?) throws(WireError) -> Value? {
        guard let item = self[name] else { return nil }
        guard let value = read(item) else { throw WireError(.malformed, at: 0, "\(name): \(item.kindName)") }
        return value
    }

    /// The value of a required member.
    func needed<Value>(_ name: CBOR, _ read: (CBOR) -> Value?) throws(WireError) -> Value {
        guard let value = try member(name, read) else { throw WireError(.missing, at: 0, "\(name)") }
        return value
    }
}

extension [CBOR.Map] {
    /// The identifiers in a list of credentials. Every entry is checked; one of an unknown type is skipped.
    func credentialIDs() throws(WireError) -> [[UInt8]] {
        var identifiers: [[UInt8]] = []
        for entry in self {
            let type = try entry.needed("type", \.text)
            // python-fido2 2.2.1 writes an identifier without bytes as an empty array.
            let id = try entry.needed("id") { $0.bytes ?? ($0.array == [] ? [] : nil) }
            if type == "public-key" { identifiers.append(id) }
        }
        return identifiers
    }
}

extension CBOR {
    /// The strings of an array that contains nothing else.
    var texts: [String]? {
        guard let elements = array else { return nil }
        let texts = elements.compactMap(\.text)
        return texts.count == elements.count ? texts : nil
    }
}
