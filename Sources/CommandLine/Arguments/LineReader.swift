// SPDX-License-Identifier: Apache-2.0

/// Parses a simple command line: full option names, values after them or after an equals sign, and positional
/// arguments. Anything else, and any error, is left to ArgumentParser and its error messages.
package struct LineReader {
    private var options: [(word: String, declaration: Declaration, isFlag: Bool)] = []
    private var arguments: [Declaration] = []
    private let all: [Declaration]

    /// The verb named by the first words, with its options; `nil` when ArgumentParser has to parse the line.
    package static func verb(_ line: [String], from root: any ParsableCommand.Type) -> ReadVerb? {
        var command = root
        var words = line[...]
        while !command.isVerb {
            guard let word = words.popFirst(), let next = command.about.subcommand(word) else { return nil }
            command = next
        }
        return verb(command, words)
    }

    private static func verb<Verb: ParsableCommand>(_: Verb.Type, _ words: ArraySlice<String>) -> ReadVerb? {
        let (verb, declarations) = Declarations.made(Verb.self)
        var reader = LineReader(declarations.all)
        guard reader.read(words) else { return nil }
        do {
            try declarations.check()
            try verb.check()
        } catch {
            return nil
        }
        return ReadVerb(verb: verb, declarations: declarations)
    }

    private init(_ declared: [Declaration]) {
        all = declared
        for declaration in declared {
            switch declaration.place {
            case .option(let names): add(names, declaration, isFlag: false)
            case .flag(let names): add(names, declaration, isFlag: true)
            case .argument: arguments.append(declaration)
            case .pair: break
            }
        }
    }

    private mutating func add(_ names: Names, _ declaration: Declaration, isFlag: Bool) {
        for word in names.words { options.append((word, declaration, isFlag)) }
    }

    /// Whether all words were accepted and all required values are present.
    private mutating func read(_ line: ArraySlice<String>) -> Bool {
        var words = line
        while let word = words.popFirst() {
            if word == "--" { return words.allSatisfy { place($0) } && isComplete }
            guard word.utf8.first == UInt8(ascii: "-"), word != "-" else {
                guard place(word) else { return false }
                continue
            }
            guard let (option, value) = option(word, &words) else {
                guard arguments.first?.takesAnyWord == true, Self.isBytes(word), place(word) else { return false }
                continue
            }
            guard option.take(value), isFirst(option) else { return false }
        }
        return isComplete
    }

    /// Whether a word that starts with a dash is base64url, or the start of it, rather than an option name: it has the
    /// length of 16 bytes, and a character that no name has.
    package static func isBytes(_ word: String) -> Bool {
        let dash = UInt8(ascii: "-")
        guard word.utf8.first == dash, word.utf8.count >= 22 else { return false }
        var isOther = false
        for sign in word.utf8 {
            switch sign {
            case dash, UInt8(ascii: "a")...UInt8(ascii: "z"): break
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                isOther = true
            default: return false
            }
        }
        return isOther
    }

    /// The option named by a word, and its value.
    private func option(_ word: String, _ words: inout ArraySlice<String>) -> (Declaration, String)? {
        let sign = word.utf8.firstIndex(of: UInt8(ascii: "="))
        let name = word[..<(sign ?? word.endIndex)]
        guard let found = options.first(where: { $0.word == name }) else { return nil }
        if found.isFlag { return sign == nil ? (found.declaration, "") : nil }
        if let sign {
            let value = String(Substring(word.utf8[sign...].dropFirst()))
            return word.hasPrefix("--") && !value.isEmpty ? (found.declaration, value) : nil
        }
        guard let value = words.popFirst(), !value.isEmpty,
            found.declaration.takesAnyWord || !value.hasPrefix("-") || value == "-"
        else { return nil }
        return (found.declaration, value)
    }

    /// Assigns a word to the next positional argument.
    private mutating func place(_ word: String) -> Bool {
        guard let next = arguments.first, !word.isEmpty, next.take(word) else { return false }
        if !next.isRepeated { arguments.removeFirst() }
        return true
    }

    private var seen: [Declaration] = []

    /// Whether the option is allowed here: not given before, or repeatable.
    private mutating func isFirst(_ option: Declaration) -> Bool {
        if option.isRepeated { return true }
        defer { seen.append(option) }
        return !seen.contains { $0 === option }
    }

    private var isComplete: Bool { all.allSatisfy { $0.value != nil } }
}
