// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKWire

/// Prints what is generated from the declarations of commands and options.
struct GenerateGroup: ParsableCommand {
    static let about = About(
        "Print manual pages, completion scripts and the generated parts of articles.",
        shouldDisplay: false,
        subcommands: [
            "man": GenerateManual.self, "formats": GenerateFormats.self, "completion": Completion.self,
            "answers": GenerateAnswers.self,
        ])
}

/// Writes the manual pages.
struct GenerateManual: Verb {
    static let uses: GlobalUse = []
    static let about = About("Write the manual pages to a folder.")
    static let answer = Shape(Item<[String]>("pages"))

    @Argument("folder", help: "An existing folder.", completion: .directory) var folder: String

    func run(in run: Run) throws -> Outcome<[String]> {
        let pages = ManualPages.all
        for page in pages { try Files.write(Array(page.text.utf8), to: folder + "/" + page.name) }
        return Outcome(pages.map(\.name))
    }
}

/// Prints the table that tools/docs inserts into the OATH article.
struct GenerateFormats: Verb {
    static let uses: GlobalUse = []
    static let about = About("Print the table of the formats that accounts are imported from.")
    static let answer = Shape(Item<[String]>("formats", "the names"))

    func run(in run: Run) throws -> Outcome<[String]> {
        Outcome(Program.formats().map { $0.name }, ImportFormats.markdown)
    }
}

/// Prints the article on the verbs' JSON answers.
struct GenerateAnswers: Verb {
    static let uses: GlobalUse = []
    static let about = About("Print the article on JSON answers.")
    static let answer = Shape(Item<String>("article", "in Markdown"))

    func run(in run: Run) -> Outcome<String> {
        let article = AnswerArticle.text
        var outcome = Outcome(article)
        outcome.answer.raw = Array(article.utf8)
        return outcome
    }
}

/// Prints what verbs answer with --json.
struct Schema: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "Print the JSON Schema of a verb's answer, or of all verbs' answers.",
        discussion: """
            ykit schema oath calculate

            If a verb fails, `error` is an object, and its other members are null.
            """,
        examples: [
            Example("ykit schema oath list"),
            Example("ykit schema > ykit.schema.json", "Write the schema of all answers."),
        ])
    static let answer = Shape(
        Item<JSONValue.Object>("verbs", "the schema of each verb's answer (JSON Schema, draft 2020-12)") {
            JSONValue.object($0)
        })

    @Argument("verb", help: "The words of the verb, as in 'oath list'.") var words: [String] = []

    func run(in run: Run) throws -> Outcome<JSONValue.Object> {
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
        return Outcome(schemas, (only ?? .object(schemas)).text)
    }
}
