// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKWire

/// Prints what is made of the declarations of commands and options.
struct GenerateGroup: ParsableCommand {
    static let about = About(
        "generate", "Print manual pages, completion scripts and the members of answers.", shouldDisplay: false,
        subcommands: [GenerateManual.self, Completion.self, GenerateSchema.self])
}

/// Writes the manual pages.
struct GenerateManual: Verb {
    static let uses: GlobalUse = []
    static let about = About("man", "Write the manual pages into a folder.", members: ["pages"])

    @Argument("folder", help: "The folder, which exists.", completion: .directory) var folder: String

    func answer(in world: World) throws -> Answer {
        let pages = ManualPages.all
        for page in pages { try Files.write(Array(page.text.utf8), to: folder + "/" + page.name) }
        return Answer([], ["pages": .array(pages.map { .string($0.name) })])
    }
}

/// Prints what each verb answers with --json.
struct GenerateSchema: Verb {
    static let uses: GlobalUse = []
    static let about = About("schema", "Print the members of each verb's answer.", members: ["verbs"])

    func answer(in world: World) -> Answer {
        let verbs = Self.verbs(below: Program.root, [])
        let lines = verbs.map { "\($0.name): \($0.members.listed())" }
        let members = verbs.map { verb in
            (key: verb.name, value: JSONValue.array(verb.members.map(JSONValue.string)))
        }
        var object = JSONValue.Object()
        for member in members { object[member.key] = member.value }
        return Answer(lines, ["verbs": .object(object)])
    }

    /// The words that lead to each verb, and the members of its answer besides those that every answer has.
    private static func verbs(
        below command: any ParsableCommand.Type, _ path: [String]
    ) -> [(name: String, members: [String])] {
        if command.isVerb {
            return [(path.joined(separator: " "), (command as? any VerbCommand.Type)?.verb.members.map(\.name) ?? [])]
        }
        return command.about.subcommands.filter { $0.about.shouldDisplay }.flatMap {
            verbs(below: $0, path + [$0.about.name])
        }
    }
}
