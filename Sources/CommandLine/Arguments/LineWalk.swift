// SPDX-License-Identifier: Apache-2.0

/// A walk over the words of a line. It continues after an error, so that it serves parsing, error messages and
/// completion.
package struct LineWalk {
    private let parser: CommandLineParser
    /// The command that the words lead to.
    package private(set) var command: any ParsableCommand.Type
    /// The names of the commands that lead to it, without that of the root.
    package private(set) var path: [String] = []
    /// The words up to the verb that are not options.
    package private(set) var commandWords: [String] = []
    /// The verb, once it is known, with the values given so far.
    package private(set) var read: ParsedVerb?
    private var options: [Declaration] = []
    /// The global options, once one is given before the verb; the verb gets the same ones.
    private var early: Declarations.Made?
    /// The option whose value is expected next, and the name by which it was given.
    package private(set) var pending: (option: Declaration, name: String)?
    /// Whether `--` was given.
    package private(set) var hasEnded = false
    /// The options given so far, with the words that are their values.
    package private(set) var given: [(option: Declaration, name: String, value: String)] = []
    /// Whether help is requested, by the word `help` or the option `--help`.
    package private(set) var isHelp = false
    /// Whether the word `help` was given, after which only commands follow.
    package private(set) var isHelpWord = false
    /// Whether `help` is the first word and exactly one follows, which may be a topic instead of a command.
    package var isTopic: Bool { isHelpFirst && commandWords.count == 1 }
    private var isHelpFirst = false
    /// The words after `help -k`, which are searched for; `nil` without that option.
    package private(set) var searched: [String]?
    /// Whether the version is requested.
    package private(set) var isVersion = false
    /// The errors, in the order of the line.
    package private(set) var problems: [ParseError.Kind] = []
    /// The extra arguments.
    package private(set) var surplus: [String] = []
    private var arguments: [Declaration] = []

    init(_ parser: CommandLineParser) {
        self.parser = parser
        command = parser.root
    }

    /// Processes the next word.
    ///
    /// - Throws: Errors from looking up an alias.
    package mutating func take(_ word: String) throws {
        if let (option, name) = pending {
            pending = nil
            if word.isEmpty, option.omitted != nil { return problems.append(.missingValue(option, name: name)) }
            if try isValue(word, of: option) { return assign(word, to: option, name) }
            assignOmitted(to: option, name)
        }
        if !hasEnded, word.utf8.first == UInt8(ascii: "-"), word != "-" { return takeDashes(word) }
        guard read != nil || command.isVerb else { return try takeCommand(word) }
        if read != nil { place(word) }
    }

    /// Processes the end of the line.
    mutating func end() {
        if let (option, name) = pending {
            pending = nil
            assignOmitted(to: option, name)
        }
        guard read == nil else { return }
        for (option, name, value) in given { parse(value, of: option, name) }
    }

    /// Whether all commands are known, so that completion can continue.
    package var isUnderstood: Bool {
        !problems.contains { if case .unknownCommand = $0 { true } else { false } }
    }

    /// The argument that the next word without a dash would be.
    package var nextArgument: Declaration? { arguments.first }

    // MARK: - commands

    private mutating func takeCommand(_ word: String) throws {
        if searched != nil { return searched = (searched ?? []) + [word] }
        if word == "help", !isHelpWord || (isHelpFirst && commandWords.isEmpty) {
            if !isHelpWord { (isHelp, isHelpWord, isHelpFirst) = (true, true, commandWords.isEmpty) }
            return
        }
        commandWords.append(word)
        guard isUnderstood else { return }
        if let next = command.about.subcommand(word) { return enter(next) }
        guard path.isEmpty, !isHelpWord, commandWords.count == 1, let words = try parser.alias(word) else {
            problems.append(.unknownCommand(word))
            return
        }
        commandWords = []
        for word in words { try take(word) }
    }

    private mutating func enter(_ named: NamedCommand) {
        let next = named.command
        command = next
        path.append(named.name)
        guard next.isVerb, !isHelpWord else { return }
        let (verb, declarations) = Declarations.made(next, with: early)
        let read = ParsedVerb(verb: verb, declarations: declarations)
        self.read = read
        options = []
        for declaration in read.declarations.all {
            if case .argument = declaration.place { arguments.append(declaration) } else { options.append(declaration) }
        }
        let before = given
        given = []
        for (_, name, value) in before {
            if let option = option(name) {
                assign(value, to: option, name)
            } else {
                refuse(name)
            }
        }
    }

    // MARK: - options

    /// The options that may follow.
    package var allOptions: [Declaration] {
        mutating get {
            if options.isEmpty, read == nil {
                let made: Declarations.Made = Declarations.made(parser.global)
                (early, options) = (made, made.by.all)
            }
            return options
        }
    }

    /// The option of this name.
    package mutating func option(_ name: String) -> Declaration? { allOptions.first { $0.has(name) } }

    private mutating func takeDashes(_ word: String) {
        if word == "--" { return hasEnded = true }
        if word == "--help" || word == "-h" { return isHelp = true }
        if word == "--version" { return isVersion = true }
        if isHelpWord, word == "-k" { return searched = searched ?? [] }
        let sign = word.utf8.firstIndex(of: UInt8(ascii: "="))
        let name = String(word[..<(sign ?? word.endIndex)])
        guard let option = option(name) else { return takeOther(word, name) }
        switch (option.takesValue, sign) {
        case (true, let sign?):
            let value = String(Substring(word.utf8[sign...].dropFirst()))
            if value.isEmpty { return problems.append(.missingValue(option, name: name)) }
            assign(value, to: option, name)
        case (true, nil): pending = (option, name)
        case (false, let sign?):
            let value = String(Substring(word.utf8[sign...].dropFirst()))
            problems.append(.unexpectedValue(name: name, value))
        case (false, nil): assign(option.word(of: name), to: option, name)
        }
    }

    /// Processes several one-letter names after a single dash, or bytes that begin with a dash.
    private mutating func takeOther(_ word: String, _ name: String) {
        if arguments.first?.acceptsLeadingDash == true, Self.isBytes(word) { return place(word) }
        guard !word.hasPrefix("--") else { return refuse(name) }
        let letters = Array(name.dropFirst())
        // -help is a long name with one dash, rather than four letters.
        let isLong = letters.count > 1 && (["-help", "-version"].contains(name) || option("-" + name) != nil)
        if letters.isEmpty || isLong { return refuse(name) }
        for (index, letter) in letters.enumerated() where letter != "h" {
            guard let option = option("-\(letter)") else {
                return refuse("-" + (letter == "-" ? String(letters[...index]) : String(letter)))
            }
            let isLast = index == letters.count - 1
            guard option.takesValue, !isLast || name != word else { continue }
            return problems.append(.joinedValue(option, name: "-\(letter)"))
        }
        for letter in letters {
            guard let option = option("-\(letter)") else {
                isHelp = true
                continue
            }
            if option.takesValue {
                pending = (option, "-\(letter)")
            } else {
                assign(Names.yes, to: option, "-\(letter)")
            }
        }
    }

    private mutating func refuse(_ name: String) {
        problems.append(.unknownOption(name, isBeforeCommand: read == nil))
    }

    /// Whether a word is the value of the option before it.
    private func isValue(_ word: String, of option: Declaration) throws -> Bool {
        if option.acceptsLeadingDash { return true }
        if word.utf8.first == UInt8(ascii: "-"), word != "-" {
            return option.omitted == nil && Double(word) != nil
        }
        guard let omitted = option.omitted, omitted.isPath else { return true }
        guard commandWords.isEmpty else { return word.contains("/") || parser.exists(word) }
        if word == "help" || parser.root.about.subcommand(word) != nil { return false }
        return ((try? parser.alias(word)) ?? nil) == nil
    }

    /// Notes the value of an option. It is parsed once the verb is known, which may accept the option repeatedly.
    private mutating func assign(_ word: String, to option: Declaration, _ name: String) {
        guard read != nil else { return given.append((option, name, word)) }
        // A verb with an option '--also-NAME' accepts NAME repeatedly, which others accept once.
        let isAgain = !option.isRepeated && given.contains { $0.option === option }
        let target = isAgain ? options.first { $0.has("--also-" + option.name) } ?? option : option
        given.append((target, name, word))
        parse(word, of: target, name)
    }

    /// Assigns the value of an option that is given without one, if that may be omitted.
    private mutating func assignOmitted(to option: Declaration, _ name: String) {
        guard let omitted = option.omitted else { return problems.append(.missingValue(option, name: name)) }
        assign(omitted.standIn, to: option, name)
    }

    private mutating func parse(_ word: String, of option: Declaration, _ name: String?) {
        if let problem = option.problem(with: word, name) { problems.append(problem) }
    }

    // MARK: - arguments

    private mutating func place(_ word: String) {
        guard let next = arguments.first else { return surplus.append(word) }
        if !next.isRepeated { arguments.removeFirst() }
        parse(word, of: next, nil)
    }

    /// Whether a word that starts with a dash is base64url, or the start of it, rather than an option name: it has the
    /// length of 16 bytes, and a character that occurs in no option name.
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
}

extension Declaration {
    /// Whether an option has this name, with its dashes.
    fileprivate func has(_ name: String) -> Bool {
        switch place {
        case .option(let names), .flag(let names): names.words.contains(name)
        case .pair: words.contains(name)
        case .argument: false
        }
    }

    /// The value of a flag that is given by this name.
    fileprivate func word(of name: String) -> String {
        guard case .pair(let names) = place else { return Names.yes }
        return names.words.contains(name) ? Names.yes : Names.no
    }

    /// Parses a word; returns the error if it is invalid.
    fileprivate func problem(with word: String, _ name: String?) -> ParseError.Kind? {
        do {
            return try take(word) ? nil : .invalidValue(self, name: name, word, reason: nil)
        } catch {
            return .invalidValue(self, name: name, word, reason: (error as? UsageError)?.description)
        }
    }
}
