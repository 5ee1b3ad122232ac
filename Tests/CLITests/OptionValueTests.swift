// SPDX-License-Identifier: Apache-2.0

import Arguments
import Testing

@testable import TerminalIO
@testable import Verbs
@testable import ykit

/// An option whose help names values takes these, and no others of its type.
@Suite struct OptionValueTests {
    private static func verbs(below command: any ParsableCommand.Type, _ path: String = "") -> [(String, Declaration)] {
        guard command.isVerb else {
            return command.about.subcommands.flatMap { verbs(below: $0, "\(path) \($0.about.name)") }
        }
        return Declarations.of(command).map { (path, $0) }
    }

    /// Whether a help names values by a range or as examples.
    private static func isOpen(_ help: String) -> Bool {
        help.contains("such as") || help.contains("…") || help.contains(/[0-9a-f]{2} to [0-9a-f]{2}/)
    }

    @Test func helpNamesEachValueOrNone() {
        var count = 0
        for (path, declaration) in Self.verbs(below: Commands.root) {
            let values = declaration.choices.values
            guard let help = declaration.help, values.count > 1, !Self.isOpen(help) else { continue }
            let words = Set(help.split { !$0.isLetter && !$0.isNumber && !"+-_".contains($0) }.map(String.init))
            let named = values.filter { words.contains($0) }
            if named.isEmpty { continue }
            count += 1
            #expect(named == values, "\(path) \(declaration.name): \(help)")
        }
        #expect(count > 60)
    }

    @Test func eachListedValueIsTaken() {
        for (path, declaration) in Self.verbs(below: Commands.root) {
            for value in declaration.choices.values {
                #expect((try? declaration.take(value)) == true, "\(path) \(declaration.name) \(value)")
            }
        }
    }
}
