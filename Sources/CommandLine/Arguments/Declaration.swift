// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The declaration of a verb's property, and its value once parsed.
package final class Declaration {
    /// Where the value is on the line.
    package enum Place {
        /// After one of these names.
        case option(Names)
        /// A flag with one of these names.
        case flag(Names)
        /// A flag with one of these names, with or without a `no-` prefix.
        case pair(Names)
        /// A positional argument, with its name in help.
        case argument(String)
    }

    /// Where the value is on the line.
    package let place: Place
    /// The help text, a sentence, created only when it is shown; help and completion do not list a declaration without
    /// one. It names the variable.
    package var help: String? { makeHelp().map { variable?.named(in: $0) ?? $0 } }
    private let makeHelp: () -> String?
    /// The environment variable for the option.
    package let variable: OptionVariable?
    /// The possible values.
    package let choices: Choices
    /// Whether it may be repeated.
    package let isRepeated: Bool
    /// Whether the next word is its value even if it starts with a dash, as base64url may. A positional argument
    /// accepts such a word only if it cannot be an option.
    package let acceptsLeadingDash: Bool
    /// The value used if it is omitted; `nil` if it is required after the name.
    package let omitted: OmittedValue?
    /// The default as shown in help; "" if there is none.
    package var standard: String { shownDefault() }
    private let shownDefault: () -> String
    /// The value, initially the default; `nil` for a required one.
    package private(set) var value: Any?
    private let read: (String, Any?) throws -> Any?

    /// Creates a declaration; `read` combines a word with the previous value, and returns `nil` when the word is
    /// invalid, or throws a `UsageError` that says why.
    init(
        _ place: Place, _ help: @escaping () -> String?, _ choices: Choices = Choices(), isRepeated: Bool = false,
        acceptsLeadingDash: Bool = false, omitted: OmittedValue? = nil, variable: OptionVariable? = nil,
        value: Any? = nil, standard: @escaping () -> String = { "" }, read: @escaping (String, Any?) throws -> Any?
    ) {
        (self.place, makeHelp, self.choices, self.isRepeated) = (place, help, choices, isRepeated)
        (self.acceptsLeadingDash, self.variable, self.value) = (acceptsLeadingDash, variable, value)
        (self.omitted, shownDefault, self.read) = (omitted, standard, read)
        Declarations.add(.one(self))
    }

    /// Creates a copy with another value, as if the line had it, without adding it to a list.
    init(_ other: Declaration, value: Any) {
        (place, makeHelp, choices, isRepeated) = (other.place, other.makeHelp, other.choices, other.isRepeated)
        (acceptsLeadingDash, variable, self.value) = (other.acceptsLeadingDash, other.variable, value)
        (omitted, shownDefault, read, origin) = (other.omitted, other.shownDefault, other.read, .line)
    }

    /// Where a value comes from.
    package enum Origin {
        case line, file, variable
    }

    /// Where the value comes from; `nil` for the default.
    package private(set) var origin: Origin?

    /// Whether a value is given.
    package var isGiven: Bool { origin != nil }

    /// Whether an option gives the value, on the line or in the configuration file.
    var isOption: Bool { origin == .line || origin == .file }

    /// Parses a word; returns false if it is invalid.
    ///
    /// - Throws: `UsageError` if the reason is known.
    package func take(_ word: String, from origin: Origin = .line) throws -> Bool {
        guard let value = try read(word, value) else { return false }
        (self.value, self.origin) = (value, origin)
        return true
    }

    /// The value as the type of the property.
    func known<Value>(_ type: Value.Type = Value.self) -> Value {
        guard let value, let value = value as? Value else {
            let text = "ykit: internal error: an option is read before the command line\n"
            _ = text.withCString { write(2, $0, strlen($0)) }
            _exit(70)
        }
        return value
    }

    /// The names on the command line.
    package var words: [String] {
        switch place {
        case .option(let names), .flag(let names): names.words
        case .pair(let names): names.words + ["--no-" + names.plain]
        case .argument: []
        }
    }

    /// The name without dashes; for an argument, its name in help.
    package var name: String {
        switch place {
        case .option(let names), .flag(let names), .pair(let names): names.plain
        case .argument(let name): name
        }
    }

    /// Whether a value follows the name.
    package var takesValue: Bool { if case .option = place { true } else { false } }

    /// The form used in usage errors and synopses: the name with its value, or the argument in angle brackets.
    package func label(as name: String? = nil) -> String {
        switch place {
        case .option(let names): (name ?? names.preferred) + " <\(names.value ?? names.plain)>"
        case .flag(let names), .pair(let names): name ?? names.preferred
        case .argument(let name): "<\(name)>"
        }
    }
}

/// The environment variable for an option, which counts unless the line has the option.
package struct OptionVariable: ExpressibleByStringLiteral, Sendable {
    package let name: String
    /// Whether it holds the value of the option; otherwise it has another meaning, which the verb knows.
    package let isValue: Bool

    package init(stringLiteral name: String) { (self.name, isValue) = (name, true) }

    private init(other name: String) { (self.name, isValue) = (name, false) }

    /// A variable with another form than the option: the secret itself instead of its file.
    package static func ofOtherForm(_ name: String) -> OptionVariable { OptionVariable(other: name) }

    /// The help text of the option with the variable, unless the text names it.
    fileprivate func named(in help: String) -> String {
        if help.split(whereSeparator: { " .;()".contains($0) }).contains(where: { $0 == name }) { return help }
        return help.hasSuffix(").") ? "\(help.dropLast(2)); \(name))." : "\(help.dropLast()) (\(name))."
    }
}

/// A value that may be omitted.
package struct OmittedValue: Sendable {
    /// The value used in its place.
    package let standIn: String
    /// Whether, after a verb, the next word is the value only if it is a path; otherwise it is the value unless it is
    /// an option.
    let isPath: Bool

    /// The next word is the value unless it begins with a dash.
    package static func unlessWord(_ standIn: String) -> OmittedValue { .init(standIn: standIn, isPath: false) }

    /// Before the command, the next word is the value unless it is a command; after it, only if it is a path or a file.
    package static func unlessPath(_ standIn: String) -> OmittedValue { .init(standIn: standIn, isPath: true) }
}

/// The possible values, as far as they are known in advance.
package struct Choices {
    private let listed: () -> [String]
    private let named: () -> [String]
    /// What else the shell completes.
    package let completion: CompletionKind?

    /// The values, if they can be listed.
    package var values: [String] { listed() }
    /// The values that help and messages list.
    package var allowed: [String] { named() }

    init(_ completion: CompletionKind? = nil, _ listed: @escaping () -> [String] = { [] }) {
        if case .list(let words) = completion { self.listed = { words } } else { self.listed = listed }
        (self.completion, named) = (completion, { [] })
    }

    init<Value: ExpressibleByArgument>(_ type: Value.Type, _ completion: CompletionKind?) {
        if case .list(let words) = completion { listed = { words } } else { listed = { type.choices } }
        (self.completion, named) = (completion, { type.allValueStrings })
    }
}

/// What the shell completes.
package enum CompletionKind: Sendable {
    /// These words.
    case list([String])
    /// Files.
    case file
    /// A file that is read; - is standard input.
    case input
    /// A text that is not completed; - is standard input.
    case inputText
    /// Folders.
    case directory
    /// The serial numbers, readers or accounts that were listed before.
    case serials, readers, accounts
}

/// An error in the user's command line.
package struct UsageError: Error, CustomStringConvertible {
    package let description: String

    /// Creates an error with a message without a full stop.
    package init(_ description: String) { self.description = description }
}
