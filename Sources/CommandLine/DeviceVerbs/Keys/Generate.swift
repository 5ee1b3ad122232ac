// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKOATH
import YKWire

/// Prints what is generated from the declarations of commands and options.
struct GenerateGroup: ParsableCommand {
    static let about = About(
        "generate", "Print manual pages, completion scripts and the generated parts of articles.",
        shouldDisplay: false,
        subcommands: [GenerateManual.self, GenerateFormats.self, Completion.self, GenerateAnswers.self])
}

/// The manual pages that were written.
struct WrittenPages: Report {
    let pages: [String]

    static let members: [Member<WrittenPages>] = [Member("pages") { $0.pages }]
}

/// Writes the manual pages.
struct GenerateManual: Verb {
    static let uses: GlobalUse = []
    static let about = About("man", "Write the manual pages to a folder.")

    @Argument("folder", help: "An existing folder.", completion: .directory) var folder: String

    func run(in run: Run) throws -> Outcome<WrittenPages> {
        let pages = ManualPages.all
        for page in pages { try Files.write(Array(page.text.utf8), to: folder + "/" + page.name) }
        return Outcome(WrittenPages(pages: pages.map(\.name)))
    }
}

/// The formats that accounts are imported from.
struct ListedFormats: Report {
    static let members: [Member<ListedFormats>] = [
        Member("formats", "the names") { _ in AuthenticatorExport.formats.map(\.name) }
    ]
}

/// Prints the table that tools/docs inserts into the OATH article.
struct GenerateFormats: Verb {
    static let uses: GlobalUse = []
    static let about = About("formats", "Print the table of the formats that accounts are imported from.")

    func run(in run: Run) throws -> Outcome<ListedFormats> { Outcome(ListedFormats(), ImportFormats.markdown) }
}

/// The article on the verbs' JSON answers.
struct AnswersText: Report {
    let article: String

    static let members: [Member<AnswersText>] = [Member("article", "in Markdown") { $0.article }]
}

/// Prints the article on the verbs' JSON answers.
struct GenerateAnswers: Verb {
    static let uses: GlobalUse = []
    static let about = About("answers", "Print the article on JSON answers.")

    func run(in run: Run) -> Outcome<AnswersText> {
        let article = AnswerArticle.text
        var outcome = Outcome(AnswersText(article: article))
        outcome.answer.raw = Array(article.utf8)
        return outcome
    }
}
