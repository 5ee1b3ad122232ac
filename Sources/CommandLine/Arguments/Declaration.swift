// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What one property of a verb takes from the line, and its value once that is known.
package final class Declaration {
    /// Where on the line the value stands.
    package enum Place {
        /// Behind one of these names.
        case option(Names)
        /// It is such a name.
        case flag(Names)
        /// It is the property's name, with `no-` before it or without; only ArgumentParser reads it.
        case pair
        /// Among the words that have no name.
        case argument
        /// Nowhere: the value is known.
        case known
    }

    /// Where its value stands on the line.
    package let place: Place
    /// What is said of it.
    package let help: ArgumentHelp?
    /// What can stand there.
    package let choices: Choices
    /// Whether it may come more than once.
    package let isRepeated: Bool
    /// Whether the next word is its value whatever it begins with: base64url may begin with a dash. For a word without
    /// a name this is so where the word can be nothing else.
    let takesAnyWord: Bool
    /// ArgumentParser's wrapper for the same property.
    let parsed: () -> Any
    /// The value, the one it has without a word on the line at first; `nil` when there has to be a word.
    package private(set) var value: Any?
    private let read: (String, Any?) -> Any?

    /// Makes a declaration; `read` makes the value from a word and what was there before, and is `nil` when it cannot.
    init(
        _ place: Place, _ help: ArgumentHelp? = nil, _ choices: Choices = Choices(), isRepeated: Bool = false,
        takesAnyWord: Bool = false, value: Any? = nil, parsed: @escaping () -> Any,
        read: @escaping (String, Any?) -> Any? = { _, _ in nil }
    ) {
        (self.place, self.help, self.choices, self.isRepeated) = (place, help, choices, isRepeated)
        (self.takesAnyWord, self.value) = (takesAnyWord, value)
        (self.parsed, self.read) = (parsed, read)
    }

    /// A property that has a value and asks for no word.
    convenience init(known value: Any) { self.init(.known, value: value, parsed: { value }) }

    /// Takes a word; false when it makes no value.
    func take(_ word: String) -> Bool {
        guard let value = read(word, value) else { return false }
        self.value = value
        return true
    }

    /// The value as the type of the property.
    func known<Value>(_ type: Value.Type = Value.self) -> Value {
        guard let value, let value = value as? Value else {
            let text = "ykit: a mistake of the program: an option is read before the line\n"
            _ = text.withCString { write(2, $0, strlen($0)) }
            exit(70)
        }
        return value
    }

    /// The words on the line that mean it, where the property has this name.
    package func words(for property: String) -> [String] {
        switch place {
        case .option(let names), .flag(let names): names.words(for: property)
        case .pair: Names.long.words(for: property) + Names.long.words(for: "no-" + property)
        case .argument, .known: []
        }
    }
}

/// What can stand where a value does, as far as it can be told beforehand.
package struct Choices {
    private let listed: () -> [String]
    /// Whether it names something in the file system.
    package let files: Files

    /// What in the file system a value names.
    package enum Files: Sendable {
        case none, files, folders
    }

    /// The values themselves, where they can be listed.
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

/// What the shell offers where a value stands.
package enum CompletionKind: Sendable {
    /// These words.
    case list([String])
    /// Files.
    case file
    /// Folders.
    case directory
}
