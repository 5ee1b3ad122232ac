// SPDX-License-Identifier: Apache-2.0

import Arguments
import Testing
import YKTestSupport

@testable import TerminalIO
@testable import Verbs
@testable import ykit

/// An option whose help names values takes these, and no others of its type.
@Suite struct OptionValueTests {
    private static func declarations() -> [(String, Declaration)] {
        Commands.root.tree(hasHidden: true).filter { $0.command.isVerb }.flatMap { path, verb in
            Declarations.of(verb).map { (path.joined(separator: " "), $0) }
        }
    }

    /// Whether a help names values by a range or as examples.
    private static func isOpen(_ help: String) -> Bool {
        help.contains("such as") || help.contains("…") || help.contains(/[0-9a-f]{2} to [0-9a-f]{2}/)
    }

    @Test func helpNamesEachValueOrNone() {
        var count = 0
        for (path, declaration) in Self.declarations() {
            let values = declaration.choices.values
            guard let help = declaration.help, values.count > 1, !Self.isOpen(help) else { continue }
            let words = Set(
                help.split { !$0.isLetter && !$0.isNumber && !"+-_.".contains($0) }.map {
                    String($0.hasSuffix(".") ? $0.dropLast() : $0)
                })
            let named = values.filter { words.contains($0) }
            if named.isEmpty { continue }
            count += 1
            expect(named, is: values, "\(path) \(declaration.name): \(help)")
        }
        #expect(count > 60)
    }

    @Test func eachListedValueIsTaken() {
        for (path, declaration) in Self.declarations() {
            for value in declaration.choices.values {
                expect((try? declaration.take(value)), is: true, "\(path) \(declaration.name) \(value)")
            }
        }
    }
}
