// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// ArgumentParser, which reads every line and knows what to say of a wrong one.
package enum WholeParser {
    /// Why there is no verb.
    package enum Refusal: Error {
        /// The line asks for this help.
        case help(String)
        /// The line means nothing; ArgumentParser's message, with the usage.
        case wrong(String)
    }

    /// The verb that a line means. A group alone asks for its help.
    ///
    /// Help is wrapped at `columns`. Throws `Refusal`.
    package static func verb(
        _ line: [String], from root: any ParsableCommand.Type, columns: Int
    ) throws(Refusal) -> any ParsableCommand {
        let parser = root.parser
        do {
            var command = try parser.parseAsRoot(line)
            if let verb = (command as? any ParsedVerb)?.verb { return verb }
            // A group, and the word 'help', throw the help that they ask for.
            try command.run()
            throw CleanExit.helpRequest(type(of: command))
        } catch {
            guard parser.exitCode(for: error) != .success else {
                throw .help(parser.fullMessage(for: error, columns: columns))
            }
            throw .wrong(parser.fullMessage(for: error))
        }
    }

    /// The help of options, hidden ones too if `includesHidden`.
    package static func help(
        of options: any ParsableArguments.Type, columns: Int? = nil, includesHidden: Bool = false
    ) -> String { help(options, columns, includesHidden) }

    private static func help<Base: ParsableArguments>(_: Base.Type, _ columns: Int?, _ includesHidden: Bool) -> String {
        ParsedGroup<Base>.helpMessage(includeHidden: includesHidden, columns: columns)
    }
}

/// Options as ArgumentParser sees them: it looks for its own wrappers by reflection.
struct ParsedGroup<Base: ParsableArguments>: ArgumentParser.ParsableArguments, CustomReflectable {
    let base: Base

    init() { base = Base() }
    init(from decoder: any Decoder) throws { base = try Base(from: decoder) }

    mutating func validate() throws { try UsageError.parsing { try base.check() } }

    var customMirror: Mirror { Mirror(self, parsed: base) }
}

/// A word on the line as ArgumentParser sees it.
struct ParsedCommand<Base: ParsableCommand>: ArgumentParser.ParsableCommand, CustomReflectable, ParsedVerb {
    let base: Base

    static var configuration: ArgumentParser.CommandConfiguration { Base.configuration.parsed }

    init() { base = Base() }
    init(from decoder: any Decoder) throws { base = try Base(from: decoder) }

    mutating func validate() throws { try UsageError.parsing { try base.check() } }

    var customMirror: Mirror { Mirror(self, parsed: base) }

    var verb: (any ParsableCommand)? { Base.unread == nil ? nil : base }
}

/// What ArgumentParser has read.
private protocol ParsedVerb {
    /// The verb; `nil` for a group.
    var verb: (any ParsableCommand)? { get }
}

extension Mirror {
    /// The properties of options as ArgumentParser's own wrappers.
    fileprivate init(_ subject: some CustomReflectable, parsed options: some ParsableArguments) {
        let found = (try? DeclarationCollector(options, isDeep: false))?.parsed ?? []
        self.init(subject, children: found.map { (label: "_" + $0.property, value: $0.wrapper()) })
    }
}

extension ParsableCommand {
    /// The word for ArgumentParser.
    static var parser: any ArgumentParser.ParsableCommand.Type { ParsedCommand<Self>.self }
}

/// What a person did wrong on the line.
package struct UsageError: Error, CustomStringConvertible {
    package let description: String

    /// Says what is wrong, without a full stop.
    package init(_ description: String) { self.description = description }

    /// Does something whose usage errors ArgumentParser is to show as it shows its own.
    static func parsing<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as UsageError { throw ValidationError(error.description) }
    }

    static func parsed<Value>(
        _ transform: @escaping @Sendable (String) throws -> Value
    ) -> @Sendable (String) throws -> Value {
        { word in try parsing { try transform(word) } }
    }
}

/// What help says of an option or a word.
package struct ArgumentHelp: ExpressibleByStringInterpolation, Sendable {
    /// A sentence.
    package let abstract: String
    /// What the value is called; by default as the property.
    package let valueName: String?
    /// Whether help and completion name it.
    package let isShown: Bool

    package init(_ abstract: String, valueName: String? = nil, isShown: Bool = true) {
        (self.abstract, self.valueName, self.isShown) = (abstract, valueName, isShown)
    }

    package init(stringLiteral abstract: String) { self.init(abstract) }

    /// The same for ArgumentParser.
    var parsed: ArgumentParser.ArgumentHelp {
        ArgumentParser.ArgumentHelp(abstract, valueName: valueName, visibility: isShown ? .default : .hidden)
    }
}
