// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Collects the declarations of a verb's properties in order: the compiler-generated encoding of a struct visits each
/// property with its name, which is much cheaper than reflection.
package final class DeclarationCollector: Encoder {
    package let codingPath: [any CodingKey] = []
    package let userInfo: [CodingUserInfoKey: Any] = [:]

    /// The declarations, including those of groups.
    package private(set) var declared: [(property: String, declaration: Declaration)] = []
    /// The properties of the struct itself with ArgumentParser's wrappers for them.
    private(set) var parsed: [(property: String, wrapper: () -> Any)] = []
    /// The checks of the groups.
    private(set) var checks: [() throws -> Void] = []
    private let isDeep: Bool
    private var property = ""

    /// Visits a verb and its groups.
    ///
    /// - Throws: `EncodingError` for a struct with a property that is not an option.
    package convenience init(_ verb: some ParsableArguments) throws { try self.init(verb, isDeep: true) }

    /// Visits a struct; `isDeep` visits its groups as well.
    ///
    /// - Throws: `EncodingError` for a struct with a property that is not an option.
    init(_ options: some ParsableArguments, isDeep: Bool) throws {
        self.isDeep = isDeep
        try options.encode(to: self)
    }

    /// Adds the declaration of a property.
    static func add(_ declaration: Declaration, to encoder: any Encoder) {
        guard let collector = encoder as? DeclarationCollector else { return }
        if collector.isDeep {
            collector.declared.append((collector.property, declaration))
        } else {
            collector.parsed.append((collector.property, declaration.parsed))
        }
    }

    /// Adds a group.
    static func add(
        _ group: some ParsableArguments, to encoder: any Encoder, parsed: @escaping () -> Any
    ) throws {
        guard let collector = encoder as? DeclarationCollector else { return }
        guard collector.isDeep else { return collector.parsed.append((collector.property, parsed)) }
        try group.encode(to: collector)
        collector.checks.append(group.check)
    }

    package func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Properties<Key>(collector: self))
    }

    package func unkeyedContainer() -> any UnkeyedEncodingContainer { Nameless(collector: self) }

    package func singleValueContainer() -> any SingleValueEncodingContainer { Nameless(collector: self) }

    /// The properties of one struct.
    private struct Properties<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let collector: DeclarationCollector
        var codingPath: [any CodingKey] { [] }

        mutating func encode(_ value: some Encodable, forKey key: Key) throws {
            collector.property = key.stringValue
            try value.encode(to: collector)
        }

        mutating func encodeNil(forKey key: Key) {}

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Nested> { collector.container(keyedBy: type) }

        mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            collector.unkeyedContainer()
        }

        mutating func superEncoder() -> any Encoder { collector }

        mutating func superEncoder(forKey key: Key) -> any Encoder { collector }
    }

    /// Handles a property that is not an option.
    private struct Nameless: UnkeyedEncodingContainer, SingleValueEncodingContainer {
        let collector: DeclarationCollector
        var codingPath: [any CodingKey] { [] }
        var count: Int { 0 }

        mutating func encode(_ value: some Encodable) throws {
            throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: "this is not an option"))
        }

        mutating func encodeNil() {}

        mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
            collector.container(keyedBy: type)
        }

        mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }

        mutating func superEncoder() -> any Encoder { collector }
    }
}
