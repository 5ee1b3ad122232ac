// SPDX-License-Identifier: Apache-2.0

/// The grammar of a program's command line: its commands, and the options that stand anywhere on it.
package struct CommandLineParser {
    /// The root of the command tree.
    package let root: any ParsableCommand.Type
    /// The options that may stand before the verb, each of which a verb has as well.
    package let global: any ParsableArguments.Type
    /// The words that a first word stands for, when it is no command.
    package let alias: (String) throws -> [String]?
    /// Whether a file of this name exists.
    package let exists: (String) -> Bool

    /// Describes a command line.
    package init(
        root: any ParsableCommand.Type, global: any ParsableArguments.Type,
        alias: @escaping (String) throws -> [String]? = { _ in nil }, exists: @escaping (String) -> Bool
    ) {
        (self.root, self.global, self.alias, self.exists) = (root, global, alias, exists)
    }

    /// What a line asks for.
    package enum Request {
        /// A verb with its options.
        case verb(ParsedVerb)
        /// The help of a command; the words that lead to it are those of the walk.
        case help
        /// The version of the program.
        case version
    }

    /// Walks over the words of a line as far as they were typed.
    ///
    /// - Throws: What `alias` throws.
    package func walk(_ words: some Sequence<String>) throws -> LineWalk {
        var walk = LineWalk(self)
        for word in words { try walk.take(word) }
        return walk
    }

    /// What a whole line asks for.
    ///
    /// - Throws: `ParseError` for an invalid line.
    package func request(_ line: consuming LineWalk) throws(ParseError) -> Request {
        line.end()
        if line.isVersion { return .version }
        let error = line.problems.min { $0.rank < $1.rank }
        if let error, case .unknownCommand = error { throw ParseError(error, line) }
        if line.isHelp { return .help }
        guard let read = line.read else {
            if let error, case .unknownOption = error { throw ParseError(error, line) }
            guard line.given.isEmpty, error == nil else { throw ParseError(.missingCommand, line) }
            return .help
        }
        if let error { throw ParseError(error, line) }
        if let missing = read.declarations.all.first(where: { $0.value == nil }) {
            throw ParseError(.missing(missing), line)
        }
        if !line.surplus.isEmpty { throw ParseError(.tooMany(line.surplus), line) }
        do {
            try read.declarations.check()
            try read.verb.check()
        } catch {
            throw ParseError(.refused(error), line)
        }
        return .verb(read)
    }
}

/// Why a line is invalid, and how far it was understood.
package struct ParseError: Error {
    /// What is wrong.
    package enum Kind {
        /// The word is no command of the group.
        case unknownCommand(String)
        /// There are options, but no command or not all of its words.
        case missingCommand
        /// No option of the verb has this name, or before the verb none that stands anywhere.
        case unknownOption(String, isBeforeCommand: Bool)
        /// A value follows a one-letter name without a space.
        case joinedValue(Declaration, name: String)
        /// The option is the last word, or an option follows it.
        case missingValue(Declaration, name: String)
        /// The flag has a value behind an equals sign.
        case unexpectedValue(name: String, String)
        /// The word is no value of the option or argument, with the reason if it is known.
        case invalidValue(Declaration, name: String?, String, reason: String?)
        /// These words have no place.
        case tooMany([String])
        /// A required option or argument is not given.
        case missing(Declaration)
        /// The options conflict; mostly a `UsageError`.
        case refused(any Error)

        /// The first error of the lowest rank is reported.
        var rank: Int {
            switch self {
            case .unknownCommand, .unknownOption, .joinedValue: 0
            case .missingCommand, .missingValue, .unexpectedValue, .invalidValue: 1
            case .tooMany, .missing, .refused: 2
            }
        }
    }

    // A line is read, and its error put into words, by one task.
    /// What is wrong.
    nonisolated(unsafe) package let kind: Kind
    /// The line, as far as it was understood.
    nonisolated(unsafe) package let line: LineWalk

    init(_ kind: Kind, _ line: LineWalk) { (self.kind, self.line) = (kind, line) }
}
