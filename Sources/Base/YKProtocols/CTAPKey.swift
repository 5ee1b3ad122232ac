// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A number in CTAP2 messages; its case is named as in the specification. The type of its cases is given, since generic code
/// would make the runtime search all conformances for it.
@usableFromInline
package protocol CTAPNumber: RawRepresentable, CaseIterable, Hashable, Sendable
where RawValue: Hashable, AllCases == [Self] {
    /// The names of all cases, in the order of the cases. They are written out: `String(describing:)` searches the
    /// conformances of the whole program at its first call in a process, which takes 0.6 ms.
    static var names: [String] { get }
}

/// A key of a CTAP2 map.
@usableFromInline
package protocol CTAPKey: CTAPNumber, RawRepresentable<Int64> {}

/// A subcommand of a CTAP2 command.
package protocol CTAPSubcommand: CTAPNumber, RawRepresentable<UInt64> {}

extension CTAPNumber {
    /// The name in the specification.
    package var name: String {
        var index = 0
        for number in Self.allCases {
            if number == self { break }
            index += 1
        }
        return Self.names[index]
    }

    /// The names by number.
    package static var namesByNumber: [RawValue: String] {
        Dictionary(uniqueKeysWithValues: zip(allCases, names).map { ($0.rawValue, $1) })
    }
}

extension CTAPKey {
    /// The key as it is encoded.
    @inlinable
    package var cbor: CBOR { .int(rawValue) }
}

extension CTAPSubcommand {
    /// The number as it is encoded.
    package var cbor: CBOR { .unsigned(rawValue) }
}

extension CBOR.Map {
    /// Creates a map with the keys of a CTAP2 message.
    @inlinable
    package init<Key: CTAPKey>(keys pairs: KeyValuePairs<Key, CBOR>) {
        self.init()
        for (key, value) in pairs { self[key.cbor] = value }
    }

    /// The value of a key; setting appends a new key at the end, setting `nil` removes it.
    @inlinable
    package subscript(key: some CTAPKey) -> CBOR? {
        get { self[key.cbor] }
        set { self[key.cbor] = newValue }
    }
}

extension CBOR.Fields {
    /// Returns the value of a key, or `nil` when it is absent.
    @inlinable
    package func optional<Value>(_ key: some CTAPKey, _ kind: CBOR.Kind<Value>) throws(WireError) -> Value? {
        try optional(key.cbor, kind)
    }

    /// Returns the value of a key.
    @inlinable
    package func required<Value>(_ key: some CTAPKey, _ kind: CBOR.Kind<Value>) throws(WireError) -> Value {
        try required(key.cbor, kind)
    }

    /// Returns the elements of an array, or `nil` when it is absent.
    @inlinable
    package func optionalList<Value>(
        _ key: some CTAPKey, of kind: CBOR.Kind<Value>
    ) throws(WireError) -> [Value]? {
        try optionalList(key.cbor, of: kind)
    }

    /// Returns the map of a key for access by key, or `nil` when it is absent.
    @inlinable
    package func optionalFields(_ key: some CTAPKey) throws(WireError) -> CBOR.Fields? {
        try optionalFields(key.cbor)
    }
}
