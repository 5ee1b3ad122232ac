// SPDX-License-Identifier: Apache-2.0

/// The declarations of a struct of options, in the order of its properties. While `made` creates the struct, each new
/// property adds itself to the list.
package final class Declarations {
    @TaskLocal private static var growing: Growing?

    /// The list for the options being created, in the task that creates them.
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
        let brief: BriefOptions?
        let members: Declarations
        let check: () throws -> Void
    }

    /// Options with their declarations.
    typealias Made = (options: any ParsableArguments, by: Declarations)

    private(set) var members: [Member] = []
    /// The options that become the group of their type instead of new ones.
    private let early: Made?

    private init(_ early: Made?) { self.early = early }

    /// Creates options, and returns them with their declarations.
    ///
    /// - Parameter early: Options that become the group of their type, if there is one.
    static func made<Options: ParsableArguments>(
        _ type: Options.Type, with early: Made? = nil
    ) -> (options: Options, by: Declarations) {
        let list = Declarations(early)
        return ($growing.withValue(Growing(list: list)) { type.init() }, list)
    }

    /// The options of a group of the options being created, with their declarations.
    static func group<Options: ParsableArguments>(_ type: Options.Type) -> (options: Options, by: Declarations) {
        guard let early = growing?.list.early, let options = early.options as? Options else { return made(type) }
        return (options, early.by)
    }

    /// The declarations of a type of options.
    package static func of(_ type: any ParsableArguments.Type) -> [Declaration] { made(some: type).all }

    /// The declarations of a type of options, by the titles of their groups, without those that are listed briefly.
    package static func titled(_ type: any ParsableArguments.Type) -> [(title: String, declarations: [Declaration])] {
        made(some: type).titled
    }

    /// The options of a type that help lists briefly, with the title of the group around them, in their order.
    package static func brief(_ type: any ParsableArguments.Type) -> [(title: String, options: BriefOptions)] {
        made(some: type).brief(below: "")
    }

    private func brief(below title: String) -> [(title: String, options: BriefOptions)] {
        members.flatMap { member -> [(title: String, options: BriefOptions)] in
            guard case .group(let group) = member else { return [] }
            if let options = group.brief { return [(title, options)] }
            return group.members.brief(below: group.title.isEmpty ? title : group.title)
        }
    }

    private static func made(some type: (some ParsableArguments).Type) -> Declarations { made(type).by }

    /// Adds a property to the list for the options being created, if there is one.
    static func add(_ member: @autoclosure () -> Member) { growing?.list.members.append(member()) }

    /// Whether there is a list for the options being created.
    static var areListed: Bool { growing != nil }

    /// All declarations, with those of each group in its place.
    package var all: [Declaration] {
        var list: [Declaration] = []
        add(to: &list)
        return list
    }

    /// The declarations by the title of their group, in the order in which the titles first occur. A group without a
    /// title has that of the enclosing group; the title of the verb's own options is "". Those that are listed briefly
    /// are omitted.
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
            case .group(let group):
                guard group.brief == nil else { continue }
                group.members.add(to: &list, below: group.title.isEmpty ? title : group.title)
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

/// A verb with the values from a command line.
package struct ParsedVerb {
    package let verb: any ParsableCommand
    package let declarations: Declarations
}
