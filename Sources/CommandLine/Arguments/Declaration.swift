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
        /// A flag with one of these names, with or without a `no-` prefix; parsed only by ArgumentParser.
        case pair(Names)
        /// Among the positional arguments, called this in help.
        case argument(String)
    }

    /// Where the value is on the line.
    package let place: Place
    /// The help text, a sentence; without one, help and completion do not list it. Put together only when it is shown.
    package var help: String? { told() }
    private let told: () -> String?
    /// The possible values.
    package let choices: Choices
    /// Whether it may be repeated.
    package let isRepeated: Bool
    /// Whether the next word is its value even if it starts with a dash, as base64url may. A positional argument takes
    /// such a word only when it can be nothing else.
    package let takesAnyWord: Bool
    /// ArgumentParser's wrapper for the same property.
    let parsed: () -> any ParserProperty
    /// The value, initially the default; `nil` for a required one.
    package private(set) var value: Any?
    private let read: (String, Any?) -> Any?

    /// Creates a declaration; `read` combines a word with the previous value, and returns `nil` when the word is
    /// invalid.
    init(
        _ place: Place, _ help: @escaping () -> String?, _ choices: Choices = Choices(), isRepeated: Bool = false,
        takesAnyWord: Bool = false, value: Any? = nil, parsed: @escaping () -> any ParserProperty,
        read: @escaping (String, Any?) -> Any? = { _, _ in nil }
    ) {
        (self.place, told, self.choices, self.isRepeated) = (place, help, choices, isRepeated)
        (self.takesAnyWord, self.value) = (takesAnyWord, value)
        (self.parsed, self.read) = (parsed, read)
        Declarations.add(.one(self))
    }

    /// A copy with another value, which is in no list.
    init(_ other: Declaration, value: Any) {
        (place, told, choices, isRepeated) = (other.place, other.told, other.choices, other.isRepeated)
        (takesAnyWord, self.value) = (other.takesAnyWord, value)
        (parsed, read) = (other.parsed, other.read)
    }

    /// Takes a word; returns false when it is invalid.
    package func take(_ word: String) -> Bool {
        guard let value = read(word, value) else { return false }
        self.value = value
        return true
    }

    /// Takes the value that ArgumentParser read.
    func take(read value: Any?) { self.value = value }

    /// The value as the type of the property.
    func known<Value>(_ type: Value.Type = Value.self) -> Value {
        guard let value, let value = value as? Value else {
            let text = "ykit: a mistake of the program: an option is read before the line\n"
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

    /// The name without dashes; for an argument what help calls it.
    package var name: String {
        switch place {
        case .option(let names), .flag(let names), .pair(let names): names.plain
        case .argument(let name): name
        }
    }
}

/// The possible values, as far as they are known beforehand.
package struct Choices {
    private let listed: () -> [String]
    /// Whether the value is a file or folder.
    package let files: Files

    /// The kind of file system object that a value names.
    package enum Files: Sendable {
        case none, files, folders
    }

    /// The values, if they can be listed.
    package var values: [String] { listed() }

    init(_ completion: CompletionKind? = nil, _ listed: @escaping () -> [String] = { [] }) {
        switch completion {
        case nil: (self.listed, files) = (listed, .none)
        case .list(let values): (self.listed, files) = ({ values }, .none)
        case .file: (self.listed, files) = ({ [] }, .files)
        case .directory: (self.listed, files) = ({ [] }, .folders)
        }
    }

    init<Value: ExpressibleByArgument>(_ type: Value.Type, _ completion: CompletionKind?) {
        self.init(completion) { type.choices }
    }
}

/// What the shell completes.
package enum CompletionKind: Sendable {
    /// These words.
    case list([String])
    /// Files.
    case file
    /// Folders.
    case directory
}
