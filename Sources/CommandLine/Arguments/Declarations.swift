// SPDX-License-Identifier: Apache-2.0

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
        let title: String
        let members: Declarations
        let check: () throws -> Void
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

    /// What options of a type declare, below the titles of their groups.
    package static func titled(_ type: any ParsableArguments.Type) -> [(title: String, declarations: [Declaration])] {
        made(some: type).titled
    }

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

    /// The declarations below the title of their group, in the order of the first of each title; those of groups without
    /// one are below the title of what the group is in, "" for the verb's own.
    private var titled: [(title: String, declarations: [Declaration])] {
        var list: [(title: String, declarations: [Declaration])] = []
        add(to: &list, below: "")
        return list
    }

    private func add(to list: inout [(title: String, declarations: [Declaration])], below title: String) {
        for member in members {
            switch member {
            case .one(let declaration):
                if let index = list.firstIndex(where: { $0.title == title }) {
                    list[index].declarations.append(declaration)
                } else {
                    list.append((title, [declaration]))
                }
            case .group(let group): group.members.add(to: &list, below: group.title.isEmpty ? title : group.title)
            }
        }
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
package struct ParsedVerb {
    package let verb: any ParsableCommand
    package let declarations: Declarations

    /// Runs the verb and returns the exit status.
    package func carryOut() async -> Int32 { await verb.carryOut(declarations) }
}
