// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// What a struct of options declares, in the order of its properties. While `made` creates the struct, each property that
/// is created adds itself to the list.
package final class Declarations {
    @TaskLocal private static var growing: Growing?

    /// The list of the options that are being created, for the task that creates them.
    private struct Growing: Sendable {
        // A struct is created by one task, which starts no other.
        nonisolated(unsafe) let list: Declarations
    }

    /// A property.
    enum Member {
        case one(Declaration)
        case group(Group)
    }

    /// The property of a group.
    struct Group {
        let members: Declarations
        let check: () throws -> Void
        let parsed: () -> any ParserProperty
    }

    private(set) var members: [Member] = []

    private init() {}

    /// Creates options, and returns them with what they declare.
    package static func made<Options: ParsableArguments>(_ type: Options.Type) -> (options: Options, by: Declarations) {
        let list = Declarations()
        return ($growing.withValue(Growing(list: list)) { type.init() }, list)
    }

    /// What options of a type declare.
    package static func of(_ type: any ParsableArguments.Type) -> [Declaration] { made(some: type).all }

    private static func made(some type: (some ParsableArguments).Type) -> Declarations { made(type).by }

    /// Adds a property to the options that are being created, if they are being listed.
    static func add(_ member: @autoclosure () -> Member) { growing?.list.members.append(member()) }

    /// Whether the options that are being created are listed.
    static var areListed: Bool { growing != nil }

    /// All declarations, with those of groups in the place of each.
    package var all: [Declaration] {
        var list: [Declaration] = []
        add(to: &list)
        return list
    }

    private func add(to list: inout [Declaration]) {
        for member in members {
            switch member {
            case .one(let declaration): list.append(declaration)
            case .group(let group): group.members.add(to: &list)
            }
        }
    }

    /// Runs the checks of the groups, the innermost first.
    func check() throws {
        for case .group(let group) in members {
            try group.members.check()
            try group.check()
        }
    }
}

/// A verb as a line gave it.
package struct ReadVerb {
    package let verb: any ParsableCommand
    package let declarations: Declarations

    /// Runs the verb and returns the exit status.
    package func carryOut() async -> Int32 { await verb.carryOut(declarations) }
}

// MARK: with ArgumentParser

/// ArgumentParser's wrapper of a property.
protocol ParserProperty: Decodable {
    associatedtype Value
    var wrappedValue: Value { get }
}

extension ArgumentParser.Option: ParserProperty {}
extension ArgumentParser.Flag: ParserProperty {}
extension ArgumentParser.Argument: ParserProperty {}
extension ArgumentParser.OptionGroup: ParserProperty {}

extension Declarations {
    /// The properties as ArgumentParser finds them by reflection: its own wrappers.
    var children: [Mirror.Child] {
        members.enumerated().map { place, member in
            switch member {
            case .one(let declaration): ("_" + declaration.name, declaration.parsed())
            case .group(let group): ("_" + Self.name(place), group.parsed())
            }
        }
    }

    /// Takes the values that ArgumentParser read.
    ///
    /// - Throws: what ArgumentParser says of a value that is missing or wrong.
    func take(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        for (place, member) in members.enumerated() {
            switch member {
            case .one(let declaration):
                declaration.take(read: try Self.read(declaration.parsed(), Key(declaration.name), values))
            case .group(let group):
                guard let read = try Self.read(group.parsed(), Key(Self.name(place)), values) as? any ParsedOptions
                else { continue }
                for (own, other) in zip(group.members.all, read.declarations.all) { own.take(read: other.value) }
            }
        }
    }

    private static func read<Property: ParserProperty>(
        _: Property, _ key: Key, _ values: KeyedDecodingContainer<Key>
    ) throws -> Any { try values.decode(Property.self, forKey: key).wrappedValue }

    /// A group has no name; its place tells it from the others.
    private static func name(_ place: Int) -> String { "group\(place)" }

    /// A property's name.
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ name: String) { stringValue = name }
        init?(stringValue name: String) { stringValue = name }
        init?(intValue: Int) { nil }
    }
}
