// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKWire

/// Prints what is made of the declarations of commands and options.
struct GenerateGroup: ParsableCommand {
    static let about = About(
        "generate", "Print manual pages, completion scripts and the members of answers.", shouldDisplay: false,
        subcommands: [GenerateManual.self, Completion.self])
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
