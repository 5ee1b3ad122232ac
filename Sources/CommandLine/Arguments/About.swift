// SPDX-License-Identifier: Apache-2.0

/// The name, help and subcommands of a command.
package struct About: Sendable {
    package let name: String
    package let abstract: String
    package let discussion: @Sendable () -> String
    package let version: String
    package let shouldDisplay: Bool
    package let aliases: [String]
    /// Common command lines, shown at the end of the help.
    package let examples: @Sendable () -> [Example]
    private let listed: @Sendable () -> [CommandTopic]

    /// The commands of a group by topic; a group without topics has a single unnamed one.
    package var topics: [CommandTopic] { listed() }

    /// The commands of a group, listed only when the group is named: the root alone has 25 groups.
    package var subcommands: [any ParsableCommand.Type] { listed().flatMap { $0.commands.map { $0.command } } }

    /// Describes a command; `aliases` are alternative names.
    package init(
        _ name: String, _ abstract: String, discussion: @escaping @autoclosure @Sendable () -> String = "",
        version: String = "",
        shouldDisplay: Bool = true, subcommands: @escaping @autoclosure @Sendable () -> [any Command.Type] = [],
        aliases: [String] = [],
        examples: @escaping @autoclosure @Sendable () -> [Example] = []
    ) {
        (self.name, self.abstract, self.discussion) = (name, abstract, discussion)
        (self.version, self.shouldDisplay) = (version, shouldDisplay)
        (listed, self.aliases, self.examples) = ({ [CommandTopic("", subcommands())] }, aliases, examples)
    }

    /// Describes the program, with its commands grouped by topic.
    package init(
        program name: String, _ abstract: String, discussion: @escaping @autoclosure @Sendable () -> String,
        version: String, topics: @escaping @autoclosure @Sendable () -> [CommandTopic]
    ) {
        (self.name, self.abstract, self.discussion) = (name, abstract, discussion)
        (self.version, shouldDisplay, aliases, examples) = (version, true, [], { [] })
        listed = topics
    }

    /// The subcommand of this name.
    package func subcommand(_ word: String) -> (any ParsableCommand.Type)? {
        listed().lazy.flatMap(\.commands).first { $0.about.isCalled(word) }?.command
    }

    private func isCalled(_ word: String) -> Bool { name == word || aliases.contains(word) }
}

/// Commands that share a line on the first screen, and their purpose.
package struct CommandTopic: Sendable {
    package let purpose: String
    package let commands: [any Command.Type]

    package init(_ purpose: String, _ commands: [any Command.Type]) {
        (self.purpose, self.commands) = (purpose, commands)
    }
}

/// A command line for the end of a command's help.
package struct Example: Sendable {
    /// The line as it is typed into a shell; never with a secret.
    package let line: String
    /// What the line does; "" if that is obvious.
    package let purpose: String

    /// Creates an example.
    package init(_ line: String, _ purpose: String = "") { (self.line, self.purpose) = (line, purpose) }
}
