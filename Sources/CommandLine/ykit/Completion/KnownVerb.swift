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

        var about: String { declaration.help ?? "" }
        var isShown: Bool { declaration.help != nil }

        var takesValue: Bool {
            if case .option = declaration.place { true } else { false }
        }

        /// Whether it is `--virtual`, whose value may be omitted.
        var isStateFile: Bool { names.contains("--virtual") }
    }

    init(_ verb: any ParsableArguments.Type) {
        let items = Declarations.of(verb).map { Item(names: $0.words, declaration: $0) }
        options = items.filter { !$0.names.isEmpty }
        arguments = items.filter(\.names.isEmpty)
    }

    /// The positional argument at an index.
    func argument(_ count: Int) -> Item? {
        if count < arguments.count { return arguments[count] }
        return arguments.last.flatMap { $0.declaration.isRepeated ? $0 : nil }
    }
}
