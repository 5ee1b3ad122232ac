// SPDX-License-Identifier: Apache-2.0

import Arguments

/// The options and words of a verb.
struct KnownVerb {
    let options: [Item]
    private let arguments: [Item]

    /// An option, or a word without a name.
    struct Item {
        /// With their dashes; none for a word.
        let names: [String]
        let declaration: Declaration

        var about: String { declaration.help?.abstract ?? "" }
        var isShown: Bool { declaration.help?.isShown ?? true }

        var takesValue: Bool {
            if case .option = declaration.place { true } else { false }
        }

        /// Whether it is `--virtual`, whose value may be omitted.
        var isStateFile: Bool { names.contains("--virtual") }
    }

    init(_ verb: some ParsableCommand) {
        let declared = (try? DeclarationCollector(verb))?.declared ?? []
        let items = declared.map { Item(names: $1.words(for: $0), declaration: $1) }
        options = items.filter { !$0.names.isEmpty }
        arguments = items.filter(\.names.isEmpty)
    }

    /// The options that stand anywhere on the line.
    var global: [Item] { options.filter { $0.names.contains(where: ArgumentRewriting.isGlobal) } }

    /// The word without a name that follows so many others.
    func argument(_ count: Int) -> Item? {
        if count < arguments.count { return arguments[count] }
        return arguments.last.flatMap { $0.declaration.isRepeated ? $0 : nil }
    }
}
