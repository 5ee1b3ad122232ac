// SPDX-License-Identifier: Apache-2.0

import Arguments
import Foundation
import Testing
import YKWire

@testable import TerminalIO
@testable import Verbs
@testable import ykit

/// Compares what verbs answer with the released version, of which fixtures/schema.json has every member with its type.
/// A member may be added. One that is removed, renamed or gets another type needs a row in the table of CHANGELOG. With
/// YKIT_UPDATE_SCHEMA=1, for a release, the fixture becomes what there is now.
@Suite struct SchemaTests {
    /// The types of all members by their paths, by verb; "" is what all verbs have.
    typealias Members = [String: [String: String]]

    static let file = Shell.root.appendingPathComponent("Tests/CLITests/fixtures/schema.json")

    @Test func whatIsRemovedOrRenamedIsInTheChangelog() throws {
        if ProcessInfo.processInfo.environment["YKIT_UPDATE_SCHEMA"] != nil { try Self.update() }
        let released = try JSONDecoder().decode(Members.self, from: try Data(contentsOf: Self.file))
        let text = try String(contentsOf: Shell.root.appendingPathComponent("CHANGELOG.md"), encoding: .utf8)
        #expect(released.count > 200)
        #expect(Self.breaks(of: released, in: Self.current(), Renaming.table(in: text)) == [])
    }

    @Test func additionsPassAndOtherChangesNeedARow() {
        let released: Members = [
            "piv info": ["version": "string", "slots[].slot": "string"], "": ["error.code": "string"],
        ]
        let added: Members = [
            "piv info": ["version": "string", "slots[].slot": "string", "serial": "string"],
            "": ["error.code": "string"], "piv new": [:],
        ]
        #expect(Self.breaks(of: released, in: added, []) == [])
        let changed: Members = ["piv info": ["firmware": "string", "slots[].slot": "integer"], "": [:]]
        #expect(
            Self.breaks(of: released, in: changed, []) == [
                "every verb: error.code is missing", "piv info: slots[].slot is integer",
                "piv info: version is missing",
            ])
        let table = Renaming.table(
            in: """
                ### JSON members

                | verbs | old | new |
                |---|---|---|
                | `list`, `piv info` | `version` | `firmware` |
                | `piv` | `slot`, a text | `slot`, a number |
                | every verb | `error` | gone |
                """)
        #expect(Self.breaks(of: released, in: changed, table) == [])
        #expect(Self.breaks(of: released, in: [:], []).contains("piv info is missing"))
    }

    /// What a program that was written for the released version would miss.
    private static func breaks(of released: Members, in current: Members, _ table: [Renaming]) -> [String] {
        released.keys.sorted().flatMap { verb -> [String] in
            guard let now = current[verb] else { return ["\(verb) is missing"] }
            return (released[verb] ?? [:]).sorted { $0.key < $1.key }.compactMap { path, type in
                guard now[path] != type, !table.contains(where: { $0.covers(path, of: verb) }) else { return nil }
                return "\(verb.isEmpty ? "every verb" : verb): \(path) is \(now[path] ?? "missing")"
            }
        }
    }

    /// The members of all verbs as they are now.
    private static func current() -> Members {
        let verbs = Commands.root.listedVerbs.compactMap { path, command in
            (command as? any VerbCommand.Type).map { (path.joined(separator: " "), members(of: $0.verb)) }
        }
        let common = paths(
            [MemberForm("error", "", Explanation.form)] + PlanReport.members.map(\.form))
        return Dictionary(uniqueKeysWithValues: verbs + [("", Dictionary(uniqueKeysWithValues: common))])
    }

    private static func members(of verb: any Verb.Type) -> [String: String] {
        let lines = paths(verb.events).map { ("line: \($0)", $1) }
        return Dictionary(uniqueKeysWithValues: paths(verb.members) + lines)
    }

    private static func paths(_ members: [MemberForm]) -> [(String, String)] {
        members.flatMap { member -> [(String, String)] in
            let (type, suffix, below) = described(member.form)
            return [(member.name, type)] + paths(below).map { ("\(member.name)\(suffix).\($0)", $1) }
        }
    }

    /// The type, and for objects the end of the path that leads to their members.
    private static func described(_ form: JSONForm) -> (type: String, suffix: String, below: [MemberForm]) {
        switch form {
        case .text: return ("string", "", [])
        case .integer: return ("integer", "", [])
        case .number: return ("number", "", [])
        case .flag: return ("boolean", "", [])
        case .any: return ("any", "", [])
        case .object(let members): return ("object", "", members)
        case .optional(let form): return described(form)
        case .list(let form):
            let (type, suffix, below) = described(form)
            return ("array of \(type)", "[]" + suffix, below)
        }
    }

    /// Writes the fixture, one verb a line.
    private static func update() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let lines = try current().sorted { $0.key < $1.key }.map { verb, members in
            "  \"\(verb)\": \(String(decoding: try encoder.encode(members), as: UTF8.self))"
        }
        try "{\n\(lines.joined(separator: ",\n"))\n}\n".write(to: file, atomically: true, encoding: .utf8)
    }
}

/// A row of the table in CHANGELOG: the verbs, or groups of them, and the members that are not what they were.
private struct Renaming {
    let verbs: [String]
    let members: [String]

    /// The rows below the headings "JSON members".
    static func table(in changelog: String) -> [Renaming] {
        var isTable = false
        return changelog.split(separator: "\n").compactMap { line in
            if line.hasPrefix("#") { isTable = line.hasSuffix("JSON members") }
            let cells = line.split(separator: "|").map(String.init)
            guard isTable, cells.count == 3, !line.hasPrefix("|--") else { return nil }
            let verbs = cells[0].contains("every verb") ? [""] : quoted(cells[0])
            return verbs.isEmpty ? nil : Renaming(verbs: verbs, members: quoted(cells[1]))
        }
    }

    private static func quoted(_ cell: String) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
            .map { String($0.element) }
    }

    /// Whether the row speaks of the member, or of one that it is in.
    func covers(_ path: String, of verb: String) -> Bool {
        let names = path.split { ".[]: ".contains($0) }.map(String.init)
        return members.contains { names.contains($0) }
            && verbs.contains { $0.isEmpty || verb == $0 || verb.hasPrefix($0 + " ") }
    }
}
