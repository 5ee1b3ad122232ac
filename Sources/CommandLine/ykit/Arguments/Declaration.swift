// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What one property of a verb takes from the line, and its value once that is known.
///
/// ArgumentParser reads any line, but it looks through the whole program for what its properties are, which takes
/// longer than most verbs. So the wrappers of this folder, which hide ArgumentParser's of the same names, know
/// themselves what they take: `LineReader` reads a plain line by them. All else, a wrong line, help, completion, goes
/// through ArgumentParser, to which `parsed` gives its own wrapper.
final class Declaration {
    /// Where on the line the value stands.
    enum Place {
        /// Behind one of these names.
        case option(Names)
        /// It is such a name.
        case flag(Names)
        /// Among the words that have no name.
        case argument
        /// Where only ArgumentParser finds it.
        case elsewhere
    }

    let place: Place
    /// Whether it may come more than once.
    let isRepeated: Bool
    /// Whether the next word is its value whatever it begins with: base64url may begin with a dash. For a word without
    /// a name this is so where the word can be nothing else.
    let takesAnyWord: Bool
    /// ArgumentParser's wrapper for the same property.
    let parsed: () -> Any
    /// The value, the one it has without a word on the line at first; `nil` when there has to be a word.
    private(set) var value: Any?
    private let read: (String, Any?) -> Any?

    /// Makes a declaration; `read` makes the value from a word and what was there before, and is `nil` when it cannot.
    init(
        _ place: Place, isRepeated: Bool = false, takesAnyWord: Bool = false, value: Any? = nil,
        parsed: @escaping () -> Any,
        read: @escaping (String, Any?) -> Any? = { _, _ in nil }
    ) {
        (self.place, self.isRepeated, self.takesAnyWord, self.value) = (place, isRepeated, takesAnyWord, value)
        (self.parsed, self.read) = (parsed, read)
    }

    /// A property that has a value and asks for no word.
    convenience init(known value: Any) { self.init(.elsewhere, value: value, parsed: { value }) }

    /// Takes a word; false when it makes no value.
    func take(_ word: String) -> Bool {
        guard let value = read(word, value) else { return false }
        self.value = value
        return true
    }

    /// The value as the type of the property.
    func known<Value>(_ type: Value.Type = Value.self) -> Value {
        guard let value, let value = value as? Value else {
            Terminal.write(Array("ykit: a mistake of the program: an option is read before the line\n".utf8), to: 2)
            exit(70)
        }
        return value
    }
}
