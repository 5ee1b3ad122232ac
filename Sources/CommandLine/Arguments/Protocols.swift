// SPDX-License-Identifier: Apache-2.0

/// A group of options. Stored properties are `Option`, `Flag`, `Argument` or `OptionGroup`; any others are not part of
/// the command line, and have an initial value.
package protocol ParsableArguments {
    /// The title above the options in help; without one they are listed with the verb's own.
    static var title: String { get }

    /// The options in one row, for those that help lists briefly and last; `nil` for others.
    static var brief: BriefOptions? { get }

    /// Creates the options before the line is parsed.
    init()

    /// Throws a `UsageError` for values that conflict.
    func check() throws
}

extension ParsableArguments {
    package static var title: String { "" }

    package static var brief: BriefOptions? { nil }

    package func check() throws {}
}

/// Options that are listed in one row, such as the places from which a secret is read.
package struct BriefOptions: Sendable {
    /// What they are about.
    package let label: String
    /// The options and variables.
    package let text: String
    /// The names of the options that read standard input.
    package let readers: [String]

    /// Creates a row.
    package init(_ label: String, _ text: String, readers: [String]) {
        (self.label, self.text, self.readers) = (label, text, readers)
    }
}

/// An entry of a group: a command, or a verb that another type turns into a command.
package protocol Command: SendableMetatype {
    /// The help and subcommands.
    static var about: About { get }

    /// The command that parses the line.
    static var command: any ParsableCommand.Type { get }
}

/// A command as a line is parsed: a verb with all its options, or a group of commands.
package protocol ParsableCommand: ParsableArguments, Command {
    /// Whether this is a verb rather than a group of commands.
    static var isVerb: Bool { get }

    /// What carries out the verb, of a class of the program; `nil` for a group. A cast to a protocol would search the
    /// conformances of the whole program at each start.
    ///
    /// - Parameter declarations: The declarations of its options, with the values from the line.
    func performer(_ declarations: Declarations) -> AnyObject?
}

extension ParsableCommand {
    package static var command: any ParsableCommand.Type { Self.self }

    package static var isVerb: Bool { false }

    /// This command and all below it, each with the words that lead to it from here.
    ///
    /// - Parameter hasHidden: Whether to include commands that help does not list.
    package static func tree(hasHidden: Bool) -> [(path: [String], command: any ParsableCommand.Type)] {
        let below = about.subcommands.filter { hasHidden || $0.about.shouldDisplay }
        return [([], Self.self)]
            + below.flatMap { child in
                child.command.tree(hasHidden: hasHidden).map { ([child.name] + $0.path, $0.command) }
            }
    }

    /// All verbs that help lists, each with the words that lead to it from here.
    package static var listedVerbs: [(path: [String], command: any ParsableCommand.Type)] {
        tree(hasHidden: false).filter { $0.command.isVerb }
    }

    package func performer(_ declarations: Declarations) -> AnyObject? { nil }
}

/// A value parsed from an argument.
public protocol ExpressibleByArgument {
    /// Parses an argument; `nil` when it is invalid.
    init?(argument: String)

    /// The value as shown in help.
    var defaultValueDescription: String { get }

    /// All possible arguments, for help and messages; empty when they are too many or unlimited.
    static var allValueStrings: [String] { get }

    /// The arguments for shell completion.
    static var choices: [String] { get }
}

extension ExpressibleByArgument {
    /// The value's Swift description.
    public var defaultValueDescription: String { "\(self)" }
    /// An empty list.
    public static var allValueStrings: [String] { [] }
    /// All possible arguments.
    public static var choices: [String] { allValueStrings }
}

extension ExpressibleByArgument where Self: CaseIterable, Self: RawRepresentable, RawValue == String {
    /// The raw values of all cases.
    public static var allValueStrings: [String] { allCases.map { $0.rawValue } }
}

extension ExpressibleByArgument where Self: RawRepresentable, RawValue == String {
    /// Parses a raw value.
    public init?(argument: String) { self.init(rawValue: argument) }

    /// The raw value.
    public var defaultValueDescription: String { rawValue }
}

extension ExpressibleByArgument where Self: LosslessStringConvertible {
    /// Parses the description of a value.
    public init?(argument: String) { self.init(argument) }
}

extension String: ExpressibleByArgument {}
extension Int: ExpressibleByArgument {}
extension Int32: ExpressibleByArgument {}
extension Int64: ExpressibleByArgument {}
extension UInt8: ExpressibleByArgument {}
extension UInt16: ExpressibleByArgument {}
extension UInt32: ExpressibleByArgument {}
extension Double: ExpressibleByArgument {}
