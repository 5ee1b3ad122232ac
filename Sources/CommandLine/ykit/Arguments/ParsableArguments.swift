// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Options that belong together. All stored properties are `Option`, `Flag`, `Argument` or `OptionGroup`.
protocol ParsableArguments: ArgumentParser.ParsableArguments, Encodable, CustomReflectable {}

extension ParsableArguments {
    /// The properties as ArgumentParser's own wrappers, which is what it looks for.
    var customMirror: Mirror {
        let found = (try? DeclarationCollector(self, isDeep: false))?.parsed ?? []
        return Mirror(self, children: found.map { (label: "_" + $0.property, value: $0.wrapper()) })
    }
}

/// A word on the line with a meaning: a group of others, or a verb.
protocol ParsableCommand: ArgumentParser.ParsableCommand, ParsableArguments, Word {}

extension ParsableCommand {
    static var configuration: ArgumentParser.CommandConfiguration {
        let own: CommandConfiguration = configuration
        return own.parsed
    }

    static var unread: (any Verb)? { nil }

    static var command: any ParsableCommand.Type { self }
}
