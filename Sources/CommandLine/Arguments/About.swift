// SPDX-License-Identifier: Apache-2.0

/// The help and subcommands of a command. Its name stands in the list of its group.
package struct About: Sendable {
    package let abstract: String
    package let discussion: @Sendable () -> String
    package let version: String
    package let shouldDisplay: Bool
    /// Common command lines, shown at the end of the help.
    package let examples: @Sendable () -> [Example]
    private let listed: @Sendable () -> [CommandTopic]

    /// The commands of a group by topic; a group without topics has a single unnamed one.
    package var topics: [CommandTopic] { listed() }

    /// The commands of a group, listed only when the group is named: the root alone has 25 groups.
    package var subcommands: [NamedCommand] { listed().flatMap(\.commands.all) }

    /// Describes a command.
    package init(
        _ abstract: String, discussion: @escaping @autoclosure @Sendable () -> String = "",
        shouldDisplay: Bool = true, subcommands: @escaping @autoclosure @Sendable () -> CommandList = [:],
        examples: @escaping @autoclosure @Sendable () -> [Example] = []
    ) {
        (self.abstract, self.discussion, self.version) = (abstract, discussion, "")
        (self.shouldDisplay, self.examples) = (shouldDisplay, examples)
        listed = { [CommandTopic("", subcommands())] }
    }

    /// Describes the program, with its commands grouped by topic.
    package init(
        program abstract: String, discussion: @escaping @autoclosure @Sendable () -> String, version: String,
        topics: @escaping @autoclosure @Sendable () -> [CommandTopic]
    ) {
        (self.abstract, self.discussion, self.version) = (abstract, discussion, version)
        (shouldDisplay, examples, listed) = (true, { [] }, topics)
    }

    /// The subcommand of this name. No other one is asked for its help, so that a verb does not begin with that of
    /// other groups.
    package func subcommand(_ word: String) -> NamedCommand? {
        for topic in listed() {
            if let command = topic.commands.all.first(where: { $0.names.contains(word) }) { return command }
        }
        return nil
    }
}

/// A command of a group.
package struct NamedCommand: Sendable {
    /// The names that lead to it: the one that help lists, and its aliases.
    package let names: [String]
    private let type: any Command.Type

    fileprivate init(_ names: Names, _ type: any Command.Type) { (self.names, self.type) = (names.words, type) }

    /// The name that help lists.
    package var name: String { names[0] }
    /// Alternative names.
    package var aliases: ArraySlice<String> { names.dropFirst() }
    /// The command that parses the line.
    package var command: any ParsableCommand.Type { type.command }
    /// Its help and subcommands.
    package var about: About { type.about }
}

/// The commands of a group after their names, of which those after the first one are aliases:
/// `["list": OATHList.self, ["calculate", "code"]: OATHCalculate.self]`.
package struct CommandList: ExpressibleByDictionaryLiteral, Sendable {
    /// The commands in their order.
    package let all: [NamedCommand]

    package init(dictionaryLiteral commands: (Names, any Command.Type)...) { all = commands.map(NamedCommand.init) }
}

/// Commands that share a line on the first screen, and their purpose.
package struct CommandTopic: Sendable {
    package let purpose: String
    package let commands: CommandList

    package init(_ purpose: String, _ commands: CommandList) { (self.purpose, self.commands) = (purpose, commands) }
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
