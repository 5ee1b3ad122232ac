// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Parses any line with ArgumentParser, including its error messages for invalid ones.
package enum WholeParser {
    /// Why there is no verb to run.
    package enum Refusal: Error {
        /// The line requests this help.
        case help(String)
        /// The line is invalid; with ArgumentParser's message and the usage.
        case wrong(String)
    }

    /// Returns the verb for a line. A group alone requests its help.
    ///
    /// Help is wrapped at `columns`.
    ///
    /// - Throws: `Refusal`.
    package static func verb(
        _ line: [String], from root: any ParsableCommand.Type, columns: Int
    ) throws(Refusal) -> ReadVerb {
        let parser = root.parser
        do {
            var command = try parser.parseAsRoot(line)
            if let verb = (command as? any ParsedVerb)?.verb { return verb }
            // A group, and the word 'help', throw the requested help.
            try command.run()
            throw CleanExit.helpRequest(type(of: command))
        } catch {
            guard parser.exitCode(for: error) != .success else {
                throw .help(parser.fullMessage(for: error, columns: columns))
            }
            throw .wrong(parser.fullMessage(for: error))
        }
    }

    /// The help of options.
    package static func help(of options: any ParsableArguments.Type, columns: Int? = nil) -> String {
        help(options, columns)
    }

    private static func help<Base: ParsableArguments>(_: Base.Type, _ columns: Int?) -> String {
        ParsedGroup<Base>.helpMessage(columns: columns)
    }
}

/// Options as seen by ArgumentParser, which finds its own wrappers by reflection.
protocol ParsedOptions: ArgumentParser.ParsableArguments, CustomReflectable {
    associatedtype Base: ParsableArguments

    var base: Base { get }
    var declarations: Declarations { get }

    init(_ made: (options: Base, by: Declarations))
}

extension ParsedOptions {
    init() { self.init(Declarations.made(Base.self)) }

    init(from decoder: any Decoder) throws {
        self.init()
        try declarations.take(from: decoder)
    }

    mutating func validate() throws { try UsageError.parsing { try base.check() } }

    var customMirror: Mirror { Mirror(self, children: declarations.children) }
}

/// A group as seen by ArgumentParser.
struct ParsedGroup<Base: ParsableArguments>: ParsedOptions {
    let base: Base
    let declarations: Declarations

    init(_ made: (options: Base, by: Declarations)) { (base, declarations) = made }
}

/// A command as seen by ArgumentParser.
struct ParsedCommand<Base: ParsableCommand>: ParsedOptions, ArgumentParser.ParsableCommand, ParsedVerb {
    let base: Base
    let declarations: Declarations

    static var configuration: ArgumentParser.CommandConfiguration { Base.about.parsed }

    init(_ made: (options: Base, by: Declarations)) { (base, declarations) = made }

    var verb: ReadVerb? { Base.isVerb ? ReadVerb(verb: base, declarations: declarations) : nil }
}

/// The result of ArgumentParser.
private protocol ParsedVerb {
    /// The verb; `nil` for a group.
    var verb: ReadVerb? { get }
}

extension ParsableCommand {
    /// The command for ArgumentParser.
    static var parser: any ArgumentParser.ParsableCommand.Type { ParsedCommand<Self>.self }
}

/// An error in the user's command line.
package struct UsageError: Error, CustomStringConvertible {
    package let description: String

    /// Creates an error with a message without a full stop.
    package init(_ description: String) { self.description = description }

    /// Runs `body`, and lets ArgumentParser show its usage errors like its own.
    static func parsing<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as UsageError { throw ValidationError(error.description) }
    }

    static func parsed<Value>(
        _ transform: @escaping @Sendable (String) throws -> Value
    ) -> @Sendable (String) throws -> Value {
        { word in try parsing { try transform(word) } }
    }
}
