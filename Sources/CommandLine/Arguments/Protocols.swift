// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser

/// Options that belong together. All stored properties are `Option`, `Flag`, `Argument` or `OptionGroup`.
package protocol ParsableArguments: Codable {
    /// The options before the line is read.
    init()

    /// Refuses values that do not go together, with a `UsageError`.
    func check() throws
}

extension ParsableArguments {
    package func check() throws {}
}

/// A word on the line with a meaning: a group of others, or a verb.
package protocol ParsableCommand: ParsableArguments, SendableMetatype {
    /// What the word is called, what is said of it, and which words can follow.
    static var configuration: CommandConfiguration { get }

    /// The verb before its line is read; `nil` for a group.
    static var unread: (any ParsableCommand)? { get }

    /// Does what the line says, and gives the exit status; never called for a group.
    func carryOut() async -> Int32
}

extension ParsableCommand {
    package static var unread: (any ParsableCommand)? { nil }

    package func carryOut() async -> Int32 { 0 }
}

/// A value that a word on the line gives.
public protocol ExpressibleByArgument: ArgumentParser.ExpressibleByArgument {
    /// Reads a word; `nil` when it is no such value.
    init?(argument: String)

    /// The value as help writes it.
    var defaultValueDescription: String { get }

    /// All words that can be, for help and messages; none when they are too many or unlimited.
    static var allValueStrings: [String] { get }

    /// The words that the shell offers.
    static var choices: [String] { get }
}

extension ExpressibleByArgument {
    /// The value as Swift writes it.
    public var defaultValueDescription: String { "\(self)" }
    /// None.
    public static var allValueStrings: [String] { [] }
    /// All words that can be.
    public static var choices: [String] { allValueStrings }
    /// None: what a word means is said in the help of its option.
    public static var allValueDescriptions: [String: String] { [:] }
    /// ArgumentParser's own, which is not used.
    public static var defaultCompletionKind: ArgumentParser.CompletionKind { .default }
}

extension ExpressibleByArgument where Self: CaseIterable, Self: RawRepresentable, RawValue == String {
    /// The raw values of all cases.
    public static var allValueStrings: [String] { allCases.map(\.rawValue) }
}

extension ExpressibleByArgument where Self: RawRepresentable, RawValue == String {
    /// Reads a raw value.
    public init?(argument: String) { self.init(rawValue: argument) }

    /// The raw value.
    public var defaultValueDescription: String { rawValue }
}

extension String: ExpressibleByArgument {}
extension Int: ExpressibleByArgument {}
extension Int32: ExpressibleByArgument {}
extension Int64: ExpressibleByArgument {}
extension UInt8: ExpressibleByArgument {}
extension UInt16: ExpressibleByArgument {}
extension UInt32: ExpressibleByArgument {}
extension Double: ExpressibleByArgument {}
