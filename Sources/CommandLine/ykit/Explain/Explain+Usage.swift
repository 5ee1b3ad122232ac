// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKWire

extension Explain {
    /// Explains the first word of the line that is not a command, or that a command is missing; `nil` if the words lead
    /// to a verb or to help.
    static func unknownCommand(_ line: [String], from root: any ParsableCommand.Type) -> Explanation? {
        var command = root
        var path: [String] = []
        for word in line.first == "help" ? line.dropFirst() : line[...] {
            let about = command.about
            guard !command.isVerb else { return nil }
            path.append(about.name)
            guard !word.hasPrefix("-") else { return missingCommand(line, word, of: path.joined(separator: " ")) }
            guard let next = about.subcommand(word) else {
                let path = path.joined(separator: " ")
                guard let known = YkmanWords.command(line.first == "help" ? Array(line.dropFirst()) : line) else {
                    return unknown(word, of: path, about)
                }
                return .usage(
                    "\(noCommand(word, of: path)); here it is 'ykit \(known)'",
                    hint: "'ykit \(known.prefix { $0 != "-" }.description.trimmed) --help' explains it")
            }
            command = next
        }
        return nil
    }

    /// Explains a group with nothing after it but global options.
    private static func missingCommand(_ line: [String], _ word: String, of path: String) -> Explanation? {
        if let here = YkmanWords.option(word, of: []) {
            return .usage("unknown option '\(word)'; here it is \(here)", hint: "'ykit help options' lists them")
        }
        guard !line.contains(where: { ["-h", "--help", "--help-hidden", "--experimental-dump-help"].contains($0) })
        else {
            return nil
        }
        guard ArgumentRewriting.isGlobal(word) else { return unknownGlobal(word) }
        let group = path.split(separator: " ").dropFirst().joined(separator: " ")
        let swallowed = valueTaken(in: line).map { "; \($0)" } ?? ""
        return .usage(
            (group.isEmpty ? "a command is missing" : "\(group) needs a command") + swallowed,
            hint: "'\(path) --help' lists them")
    }

    /// Explains an unknown option before the command.
    private static func unknownGlobal(_ word: String) -> Explanation {
        let name = word.hasPrefix("--") ? String(word.prefix { $0 != "=" }) : String(word.prefix(2))
        if word.contains(bytesOf: "-----BEGIN ") { return Files.secretInsteadOfFile }
        let known = (ArgumentRewriting.valued + ArgumentRewriting.flags + ["--virtual", "--help", "--version"])
            .filter { $0.hasPrefix("--") }
        let nearest =
            ["-v", "-V"].contains(name)
            ? "version" : Spelling.nearest(String(name.dropFirst(2)), among: known.map { String($0.dropFirst(2)) })
        return .usage(
            "unknown option '\(name.printable)'" + (nearest.map { "; did you mean '--\($0)'?" } ?? ""),
            hint: "'ykit help options' lists them")
    }

    /// Explains a global option without its value, or with a command as its value.
    private static func valueTaken(in line: [String]) -> String? {
        for (index, word) in line.enumerated() where ArgumentRewriting.valued.contains(word) {
            guard index + 1 < line.count else { return "\(word) needs a value" }
            let value = line[index + 1]
            if Ykit.about.subcommand(value) != nil { return "\(word) took '\(value)' as its value" }
        }
        return nil
    }

    private static func noCommand(_ word: String, of path: String) -> String {
        let group = path.split(separator: " ").dropFirst().joined(separator: " ")
        return "\(group.isEmpty ? "there is" : "\(group) has") no command '\(word.printable)'"
    }

    private static func unknown(_ word: String, of path: String, _ group: About) -> Explanation {
        let shown = group.subcommands.map { $0.about }.filter(\.shouldDisplay)
        let nearest = Spelling.nearest(word, among: shown.flatMap { [$0.name] + $0.aliases })
        return .usage(
            noCommand(word, of: path) + (nearest.map { "; did you mean '\($0)'?" } ?? ""),
            hint: "'\(path) --help' lists them")
    }

    /// Explains an error of ArgumentParser: its message, possible values, the help for one option, and the usage.
    static func usage(_ text: String, of line: [String] = []) -> Explanation {
        var problem: [String] = []
        var hints: [String] = []
        if let bytes = line.first(where: { LineReader.isBytes($0) && text.contains(bytesOf: "'\($0)'") }) {
            hints.append(behindDashes(bytes.printable))
        }
        let words = line
        for line in text.split(separator: "\n").map({ String($0).trimmed }) {
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            switch (parts.first, parts.last ?? "") {
            case ("Error:", let error): problem.append(withoutSecrets(error.asSentencePart, &hints, line: words))
            case ("-", let value): problem.append(value)
            case ("Help:", let help): hints.append(option(help))
            case ("Usage:", let usage): hints.append(usage)
            case ("See", let see): hints.append("more with " + see.replacing(" for more information.", with: ""))
            default: problem.append(line)
            }
        }
        let message = (problem.first ?? "usage") + " " + Array(problem.dropFirst()).listed()
        let said = message.replacing(". Please provide one of", with: ", it is one of")
            .replacing("one of the following:", with: "one of")
            .replacing(". Did you mean", with: "; did you mean")
        return .usage(said.trimmed, hint: hints.isEmpty ? nil : hints.joined(separator: "; "))
    }

    /// Removes words that may be secrets from the message: an unexpected argument, or the value of an option that
    /// expects a descriptor.
    private static func withoutSecrets(_ message: String, _ hints: inout [String], line: [String]) -> String {
        if message.contains(bytesOf: "unexpected argument") {
            let count = Int(message.prefix { $0 != " " }) ?? 1
            let options = secretOptions(of: line)
            guard let options, options.isEmpty, !line.contains(where: Files.isKeyMaterial) else {
                if let options, !options.isEmpty {
                    let all = options.listed()
                    hints.append("a secret is not an argument; the verb asks for it, or reads it with \(all)")
                }
                return count == 1 ? "one word on the line is too many" : "\(count) words on the line are too many"
            }
            return message
        }
        if message.contains(bytesOf: "is invalid for '"), message.contains(bytesOf: "-fd ") {
            let parts = message.split(separator: "'", omittingEmptySubsequences: false).map(String.init)
            if let option = parts.first(where: { $0.hasPrefix("--") && $0.contains(bytesOf: "-fd ") }) {
                return "the value is invalid for '\(option)', which takes the number of an open file descriptor"
            }
        }
        return message
    }

    /// The options of the line's verb that read a secret; `nil` without a verb.
    private static func secretOptions(of line: [String]) -> [String]? {
        verb(of: line, from: Ykit.self).map { words(of: $0).filter { $0.hasSuffix("-stdin") } }
    }

    /// The verb named by the first words of a line.
    private static func verb(of line: [String], from root: any ParsableCommand.Type) -> (any ParsableCommand.Type)? {
        var command = root
        for word in line.first == "help" ? line.dropFirst() : line[...] {
            if command.isVerb { return command }
            let about = command.about
            guard let next = about.subcommand(word) else { return nil }
            command = next
        }
        return command.isVerb ? command : nil
    }

    /// The names of all options of a verb.
    private static func words(of verb: any ParsableCommand.Type) -> [String] {
        Declarations.of(verb).flatMap(\.words)
    }

    /// Explains the first option that the verb does not have, and suggests a similar one. Its value is not repeated.
    static func unknownOption(_ line: [String], from root: any ParsableCommand.Type) -> Explanation? {
        guard let verb = verb(of: line, from: root) else { return nil }
        let known = words(of: verb) + ["--help", "--version"]
        for word in line.prefix(while: { $0 != "--" }) where word.hasPrefix("-") && word != "-" {
            let name = word.hasPrefix("--") ? String(word.prefix { $0 != "=" }) : String(word.prefix(2))
            guard !known.contains(name), !LineReader.isBytes(word) else { continue }
            if let here = YkmanWords.option(name, of: line) {
                return .usage(
                    "unknown option '\(name.printable)'; here it is \(here)",
                    hint: "'\(path(of: line, from: root)) --help' lists the options")
            }
            guard word.hasPrefix("--") else { continue }
            if word.contains(bytesOf: "-----BEGIN ") { return Files.secretInsteadOfFile }
            let nearest = Spelling.nearest(
                String(name.dropFirst(2)), among: known.filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) })
            let path = path(of: line, from: root)
            return .usage(
                "unknown option '\(name.printable)'" + (nearest.map { "; did you mean '--\($0)'?" } ?? ""),
                hint: "'\(path) --help' lists the options")
        }
        return nil
    }

    /// Joins negative numbers with the options before them, which ArgumentParser would take for two options, so that the
    /// verb can refuse or accept the value.
    static func joiningNegativeNumbers(_ line: [String], from root: any ParsableCommand.Type) -> [String] {
        guard let verb = verb(of: line, from: root) else { return line }
        var joined: [String] = []
        for (index, word) in line.enumerated() {
            let isNegative = word.hasPrefix("-") && Double(word) != nil
            guard isNegative, index > 0, let option = joined.last, isValued(option, of: verb) else {
                joined.append(word)
                continue
            }
            joined[joined.count - 1] = option + "=" + word
        }
        return joined
    }

    private static func isValued(_ word: String, of verb: any ParsableCommand.Type) -> Bool {
        guard word.hasPrefix("--") else { return false }
        return Declarations.of(verb).contains { declaration in
            if case .option = declaration.place { declaration.words.contains(word) } else { false }
        }
    }

    private static func behindDashes(_ value: String) -> String {
        "a value that begins with a dash goes behind a word of two dashes: -- \(value)"
    }

    /// Explains a word of one dash and several letters that are not all flags of the verb. With an `h` among them,
    /// ArgumentParser takes it for a request for help, and the process would end as if the verb had done its work.
    static func strayDash(_ line: [String], from root: any ParsableCommand.Type) -> Explanation? {
        guard let verb = verb(of: line, from: root) else { return nil }
        let options = Declarations.of(verb).flatMap { declaration in
            declaration.words.map { (name: $0, takesAnyWord: declaration.takesAnyWord) }
        }
        let flags = Set(options.map(\.name) + ["-h"])
        let readers = Set(options.filter(\.takesAnyWord).map(\.name))
        var previous = ""
        for word in line.prefix(while: { $0 != "--" }) {
            defer { previous = word }
            guard word.hasPrefix("-"), !word.hasPrefix("--"), word.contains(bytesOf: "h"), !readers.contains(previous),
                let other = word.dropFirst().first(where: { !flags.contains("-\($0)") })
            else { continue }
            return unknownOption(line, from: root)
                ?? .usage(
                    "unknown option '-\(String(other).printable)'",
                    hint: behindDashes("VALUE"))
        }
        return nil
    }

    /// The words that lead to the verb of a line, including ykit.
    private static func path(of line: [String], from root: any ParsableCommand.Type) -> String {
        var command = root
        var path = ["ykit"]
        for word in line {
            let about = command.about
            guard !command.isVerb, let next = about.subcommand(word) else { break }
            command = next
            path.append(next.about.name)
        }
        return path.joined(separator: " ")
    }

    /// An option or argument name, followed by two spaces and its help.
    private static func option(_ help: String) -> String {
        help.trimmed.split(separator: "  ", maxSplits: 1).map { String($0).trimmed.asSentencePart }
            .joined(separator: ": ")
    }
}
