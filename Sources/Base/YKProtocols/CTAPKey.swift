// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// A key of a CTAP2 map; its case has the name of the specification.
package protocol CTAPKey: RawRepresentable<Int64>, CaseIterable, Hashable, Sendable {}

/// A subcommand of a CTAP2 command; its case has the name of the specification.
package protocol CTAPSubcommand: RawRepresentable<UInt64>, CaseIterable, Hashable, Sendable {}

extension CTAPKey {
    /// The key as it is encoded.
    package var cbor: CBOR { .int(rawValue) }

    /// The names of all keys of the map.
    package static var names: [Int64: String] {
        Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, String(describing: $0)) })
    }
}

extension CTAPSubcommand {
    /// The number as it is encoded.
    package var cbor: CBOR { .unsigned(rawValue) }

    /// The names of all subcommands.
    package static var names: [UInt64: String] {
        Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, String(describing: $0)) })
    }
}

extension CBOR.Map {
    /// Creates a map with the keys of a CTAP2 message.
    package init<Key: CTAPKey>(keys pairs: KeyValuePairs<Key, CBOR>) {
        self.init()
        for (key, value) in pairs { self[key.cbor] = value }
    }

    /// The value of a key; setting appends a new key at the end, setting `nil` removes it.
    package subscript(key: some CTAPKey) -> CBOR? {
        get { self[key.cbor] }
        set { self[key.cbor] = newValue }
    }
}

extension CBOR.Fields {
    /// Returns the value of a key, or `nil` when it is absent.
    package func optional<Value>(_ key: some CTAPKey, _ kind: CBOR.Kind<Value>) throws(WireError) -> Value? {
        try optional(key.cbor, kind)
    }

    /// Returns the value of a key.
    package func required<Value>(_ key: some CTAPKey, _ kind: CBOR.Kind<Value>) throws(WireError) -> Value {
        try required(key.cbor, kind)
    }

    /// Returns the elements of an array, or `nil` when it is absent.
    package func optionalList<Value>(
        _ key: some CTAPKey, of kind: CBOR.Kind<Value>
    ) throws(WireError) -> [Value]? {
        try optionalList(key.cbor, of: kind)
    }

    /// Returns the map of a key for access by key, or `nil` when it is absent.
    package func optionalFields(_ key: some CTAPKey) throws(WireError) -> CBOR.Fields? {
        try optionalFields(key.cbor)
    }
}
