// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The name, help and subcommands of a command.
package struct CommandConfiguration: Sendable {
    package let commandName: String
    package let abstract: String
    package let discussion: @Sendable () -> String
    package let version: String
    package let shouldDisplay: Bool
    package let aliases: [String]
    private let listed: @Sendable () -> [any Command.Type]

    /// The commands of a group. They are listed when the group is named, not before: the root alone has 25 groups.
    package var subcommands: [any ParsableCommand.Type] { listed().map { $0.command } }

    /// Creates a configuration; `aliases` are alternative names.
    package init(
        commandName: String, abstract: String, discussion: @escaping @autoclosure @Sendable () -> String = "",
        version: String = "",
        shouldDisplay: Bool = true, subcommands: @escaping @autoclosure @Sendable () -> [any Command.Type] = [],
        aliases: [String] = []
    ) {
        (self.commandName, self.abstract, self.discussion) = (commandName, abstract, discussion)
        (self.version, self.shouldDisplay) = (version, shouldDisplay)
        (listed, self.aliases) = (subcommands, aliases)
    }

    /// The subcommand of this name.
    package func subcommand(_ word: String) -> (any ParsableCommand.Type)? {
        listed().first { $0.configuration.isCalled(word) }?.command
    }

    private func isCalled(_ word: String) -> Bool { commandName == word || aliases.contains(word) }

    /// The configuration for ArgumentParser.
    var parsed: ArgumentParser.CommandConfiguration {
        ArgumentParser.CommandConfiguration(
            commandName: commandName, abstract: abstract, discussion: discussion(), version: version,
            shouldDisplay: shouldDisplay, subcommands: subcommands.map { $0.parser }, aliases: aliases)
    }
}
