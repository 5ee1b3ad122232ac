// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// What a word on the line is called, what is said of it, and which words can follow.
struct CommandConfiguration {
    let commandName: String
    let abstract: String
    let discussion: @Sendable () -> String
    let version: String
    let shouldDisplay: Bool
    let subcommands: [any Word.Type]
    let aliases: [String]

    init(
        commandName: String, abstract: String, discussion: @escaping @autoclosure @Sendable () -> String = "",
        version: String = "",
        shouldDisplay: Bool = true, subcommands: [any Word.Type] = [], aliases: [String] = []
    ) {
        (self.commandName, self.abstract, self.discussion) = (commandName, abstract, discussion)
        (self.version, self.shouldDisplay) = (version, shouldDisplay)
        (self.subcommands, self.aliases) = (subcommands, aliases)
    }

    /// The one of the words that can follow.
    func subcommand(_ word: String) -> (any Word.Type)? {
        subcommands.first { $0.configuration.isCalled(word) }
    }

    private func isCalled(_ word: String) -> Bool { commandName == word || aliases.contains(word) }

    /// The same for ArgumentParser.
    var parsed: ArgumentParser.CommandConfiguration {
        ArgumentParser.CommandConfiguration(
            commandName: commandName, abstract: abstract, discussion: discussion(), version: version,
            shouldDisplay: shouldDisplay, subcommands: subcommands.map { $0.command }, aliases: aliases)
    }
}
