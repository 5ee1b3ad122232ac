// SPDX-License-Identifier: Apache-2.0

/// The grammar of a program's command line: its commands, and the options that can be given anywhere on it.
package struct CommandLineParser {
    /// The root of the command tree.
    package let root: any ParsableCommand.Type
    /// The options that may precede the verb; every verb declares them too.
    package let global: any ParsableArguments.Type
    /// Returns the words that an alias stands for; called for a first word that is not a command.
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

    /// What a command line requests.
    package enum Request {
        /// A verb with its options.
        case verb(ParsedVerb)
        /// The help of the command that the walk has reached.
        case help
        /// The commands whose help has these words.
        case search([String])
        /// The version of the program.
        case version
    }

    /// Walks over the words of a possibly incomplete line.
    ///
    /// - Throws: Errors from `alias`.
    package func walk(_ words: [String]) throws -> LineWalk {
        // For a generic parameter each run of the program would search all its conformances, which takes 70 µs.
        var walk = LineWalk(self)
        for word in words { try walk.take(word) }
        return walk
    }

    /// Returns what a complete line requests.
    ///
    /// - Throws: `ParseError` for an invalid line.
    package func request(_ line: consuming LineWalk) throws(ParseError) -> Request {
        line.end()
        if line.isVersion { return .version }
        let error = line.problems.min { $0.rank < $1.rank }
        if let error, case .unknownCommand = error { throw ParseError(error, line) }
        if line.isHelpWord, let error, case .unknownOption = error { throw ParseError(error, line) }
        if let searched = line.searched { return .search(searched) }
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

/// Why a line is invalid, and how far it was parsed.
package struct ParseError: Error {
    /// What is wrong.
    package enum Kind {
        /// The word is not a command of the group.
        case unknownCommand(String)
        /// There are options, but the command is missing or incomplete.
        case missingCommand
        /// No option of the verb has this name, or, before the verb, no global option.
        case unknownOption(String, isBeforeCommand: Bool)
        /// A value follows a one-letter name without a space.
        case joinedValue(Declaration, name: String)
        /// The option is the last word, or an option follows it.
        case missingValue(Declaration, name: String)
        /// The flag has a value after an equals sign.
        case unexpectedValue(name: String, String)
        /// The word is not a valid value of the option or argument; with the reason, if known.
        case invalidValue(Declaration, name: String?, String, reason: String?)
        /// The line has these extra arguments.
        case tooMany([String])
        /// A required option or argument is not given.
        case missing(Declaration)
        /// The options conflict; usually a `UsageError`.
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

    // A line is parsed and its error described by the same task.
    /// What is wrong.
    nonisolated(unsafe) package let kind: Kind
    /// The line, as far as it was parsed.
    nonisolated(unsafe) package let line: LineWalk

    init(_ kind: Kind, _ line: LineWalk) { (self.kind, self.line) = (kind, line) }
}
