// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKWire

/// Prints what verbs answer with --json.
struct Schema: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "schema", "Print the JSON Schema of a verb's answer, or of all verbs' answers.",
        discussion: """
            ykit schema oath calculate

            If a verb fails, `error` is an object, and its other members are null.
            """,
        examples: [
            Example("ykit schema oath list"),
            Example("ykit schema > ykit.schema.json", "Write the schema of all answers."),
        ])

    @Argument("verb", help: "The words of the verb, as in 'oath list'.") var words: [String] = []

    /// Schemas by the names of the verbs.
    struct Answers: Report {
        let schemas: JSONValue.Object
        static let members: [Member<Answers>] = [
            Member("verbs", "the schema of each verb's answer (JSON Schema, draft 2020-12)") {
                JSONValue.object($0.schemas)
            }
        ]
    }

    func run(in run: Run) throws -> Outcome<Answers> {
        let all = Program.root.listedVerbs.compactMap { path, command in
            (command as? any VerbCommand.Type).map { (name: path.joined(separator: " "), type: $0.verb) }
        }
        let name = words.joined(separator: " ")
        let found = words.isEmpty ? all : all.filter { $0.name == name || $0.name.hasPrefix(name + " ") }
        guard !found.isEmpty else {
            let nearest = Spelling.nearest(name, among: all.map(\.name))
            throw Explanation.usage(
                "no verb '\(name.printable)'" + (nearest.map { "; did you mean '\($0)'?" } ?? ""),
                hint: "'ykit --help' lists the commands")
        }
        var schemas = JSONValue.Object()
        for verb in found { schemas[verb.name] = verb.type.schema }
        let only = found.count == 1 ? schemas[found[0].name] : nil
        return Outcome(Answers(schemas: schemas), (only ?? .object(schemas)).text)
    }
}
