// SPDX-License-Identifier: Apache-2.0

import Arguments
import Testing
import YKTestSupport

@testable import TerminalIO
@testable import Verbs
@testable import ykit

/// Standard input has one reader, in all verbs.
@Suite struct StandardInputTests {
    private static let verbs: [(path: String, verb: any VerbCommand.Type)] = Commands.root.tree(hasHidden: true)
        .compactMap { path, command in (command as? any VerbCommand.Type).map { (path.joined(separator: " "), $0) } }

    private static func readsFile(_ item: Declaration) -> Bool {
        switch item.choices.completion {
        case .input, .inputText: true
        default: false
        }
    }

    private static func isSecret(_ item: Declaration) -> Bool {
        if case .flag(let names) = item.place { names.plain.hasSuffix("-stdin") } else { false }
    }

    @Test func helpSaysWhichFilesMayBeStandardInput() {
        var count = 0
        for (path, verb) in Self.verbs {
            for item in Declarations.of(verb) where !Self.isSecret(item) {
                guard let help = item.help, help.contains("standard input"), !help.contains("on its standard input"),
                    !help.contains("over standard input"), item.takesValue || item.words.isEmpty
                else { continue }
                count += 1
                #expect(Self.readsFile(item), "\(path) \(item.label()): \(help)")
            }
        }
        #expect(count > 30)
    }

    @Test func aFileAndASecretConflictInEachVerb() throws {
        var count = 0
        for (path, verb) in Self.verbs {
            let indices = Declarations.of(verb).indices
            for file in indices where Self.readsFile(Declarations.of(verb)[file]) {
                for secret in indices where Self.isSecret(Declarations.of(verb)[secret]) {
                    let items = Declarations.of(verb)
                    #expect(try items[file].take("-") && items[secret].take("true"), "\(path)")
                    let failure = #expect(throws: Explanation.self, "\(path)") {
                        try StandardInput.check(items, readsLines: verb.verb.readsLines)
                    }
                    expect(failure?.exit, is: .usage)
                    count += 1
                }
            }
        }
        #expect(count > 40)
    }

    @Test func severalSecretsAreReadOnlyInAnOrderThatTheHelpGives() throws {
        var (shared, refused) = (0, 0)
        for (path, verb) in Self.verbs {
            let items = Declarations.of(verb)
            let secrets = items.filter(Self.isSecret)
            for secret in secrets { _ = try secret.take("true") }
            let lines = items.filter { !Self.readsFile($0) }
            if verb.verb.readsLines {
                shared += 1
                #expect(secrets.count > 1, "\(path)")
                let help = verb.verb.about.discussion().lowercased()
                #expect(help.contains("standard input") || help.contains("are read"), "\(path)")
                #expect(throws: Never.self) { try StandardInput.check(lines, readsLines: true) }
            } else if secrets.count > 1 {
                refused += 1
                #expect(throws: Explanation.self, "\(path)") { try StandardInput.check(lines, readsLines: false) }
            }
        }
        #expect(shared > 15 && refused > 10)
    }
}
