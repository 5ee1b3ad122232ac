// SPDX-License-Identifier: Apache-2.0

import Arguments

/// The options and arguments of a verb.
struct KnownVerb {
    let options: [Item]
    private let arguments: [Item]

    /// An option or a positional argument.
    struct Item {
        /// The names with their dashes; empty for an argument.
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

    init(_ verb: some ParsableArguments) {
        let declared = (try? DeclarationCollector(verb))?.declared ?? []
        let items = declared.map { Item(names: $1.words(for: $0), declaration: $1) }
        options = items.filter { !$0.names.isEmpty }
        arguments = items.filter(\.names.isEmpty)
    }

    /// The positional argument at an index.
    func argument(_ count: Int) -> Item? {
        if count < arguments.count { return arguments[count] }
        return arguments.last.flatMap { $0.declaration.isRepeated ? $0 : nil }
    }
}
