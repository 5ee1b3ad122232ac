// SPDX-License-Identifier: Apache-2.0

import Arguments
package import TerminalIO
import YKWire

extension ParseError: Explained {
    /// What is wrong with the line, and what to type instead.
    package var explanation: Explanation {
        switch kind {
        case .unknownCommand(let word): unknownCommand(word)
        case .missingCommand:
            .usage(
                (line.path.isEmpty ? "a command is missing" : "\(group) needs a command") + swallowed,
                hint: "'\(command) --help' lists them")
        case .unknownOption(let name, let isBeforeCommand): unknownOption(name, isBeforeCommand)
        case .joinedValue(let option, let name):
            .usage("a space is missing after \(name)", hint: hint(option, name))
        case .missingValue(let option, let name):
            .usage("missing value for '\(option.label(as: name))'", hint: hint(option, name))
        case .unexpectedValue(let name, let value):
            .usage("the option '\(name)' does not take any value, but '\(value.printable)' was specified", hint: usage)
        case .invalidValue(let declaration, let name, let word, let reason):
            invalidValue(declaration, name, word, reason)
        case .tooMany(let words): tooMany(words)
        case .missing(let declaration): missing(declaration)
        case .refused(let error as UsageError): .usage(error.description.asSentencePart, hint: usage)
        case .refused(let error): Explanation(error)
        }
    }

    /// The words that lead to the command, with `ykit`.
    private var command: String { (["ykit"] + line.path).joined(separator: " ") }

    /// The words that lead to the command, without `ykit`.
    private var group: String { line.path.joined(separator: " ") }

    /// The synopsis of the verb, and where to find more.
    private var usage: String { "\(HelpPage.synopsis(of: line)); more with '\(command) --help'" }

    /// The help for an option or argument, and the usage.
    private func hint(_ declaration: Declaration, _ name: String?) -> String {
        let help = declaration.help.map { ": " + $0.asSentencePart } ?? ""
        return "\(declaration.label(as: name))\(help); \(usage)"
    }

    // MARK: - commands

    private func unknownCommand(_ word: String) -> Explanation {
        let none = "\(line.path.isEmpty ? "there is" : "\(group) has") no command '\(word.printable)'"
        if let known = YkmanEquivalents.command(line.commandWords) {
            return .usage(
                "\(none); here it is 'ykit \(known)'",
                hint: "'ykit \(known.prefix { $0 != "-" }.description.trimmed) --help' explains it")
        }
        let meant = CommandSearch().meant(line.commandWords, in: line.path)
        if !meant.isEmpty { return wrongPlace(none, word, meant) }
        let shown = line.command.about.subcommands.filter(\.about.shouldDisplay)
        let topics = line.isTopic ? HelpTopic.allCases.map(\.rawValue) : []
        let nearest = Spelling.nearest(word, among: shown.flatMap(\.names) + topics)
        return .usage(
            none + (nearest.map { "; did you mean '\($0)'?" } ?? ""), hint: "'\(command) --help' lists them")
    }

    /// A command that has this word for its name elsewhere, or means the same.
    private func wrongPlace(_ none: String, _ word: String, _ meant: [String]) -> Explanation {
        guard meant.count <= 4 else {
            return .usage(
                "\(none); \(meant.count) groups have it: \(meant.map { "'ykit \($0)'" }.listed())",
                hint: "'ykit help -k \(word.printable)' explains them")
        }
        let quoted = meant.map { "'ykit \($0)'" }
        let list =
            quoted.count == 1
            ? quoted[0] : quoted.dropLast().joined(separator: ", ") + " or " + quoted[quoted.count - 1]
        let first = meant[0].split(separator: " ").filter { !$0.hasPrefix("-") }.joined(separator: " ")
        return .usage(
            "\(none); did you mean \(list)?",
            hint: first.isEmpty ? "'\(command) --help' lists the commands" : "'ykit \(first) --help' explains it")
    }

    /// An option that took a command as its value, or has no value.
    private var swallowed: String {
        for problem in line.problems {
            if case .missingValue(_, let name) = problem { return "; \(name) needs a value" }
        }
        let taken = line.given.first { $0.option.takesValue && Program.root.about.subcommand($0.value) != nil }
        return taken.map { "; \($0.name) took '\($0.value)' as its value" } ?? ""
    }

    // MARK: - options

    /// Suggests a similar option. A value is not repeated.
    private func unknownOption(_ name: String, _ isBeforeCommand: Bool) -> Explanation {
        if name.contains(bytesOf: "-----BEGIN ") { return Files.secretInsteadOfFile }
        if isBeforeCommand, let own = line.read?.declarations.all, own.contains(where: { $0.words.contains(name) }) {
            return .usage("\(name) must come after the command", hint: "put it after '\(command)'")
        }
        let unknown = "unknown option '\(name.printable)'"
        let hint = isBeforeCommand ? "'ykit help options' lists them" : "'\(command) --help' lists the options"
        if let here = YkmanEquivalents.option(name, of: line.path) {
            return .usage("\(unknown); here it is \(here)", hint: hint)
        }
        if LineWalk.isBytes(name) { return .usage(unknown, hint: Self.behindDashes(name.printable)) }
        let all = line.read?.declarations.all ?? []
        if ["-y", "--yes"].contains(name), all.contains(where: { $0.words.contains("--force") }) {
            return .usage("\(unknown); did you mean '--force'?", hint: hint)
        }
        if !name.hasPrefix("--"), name.count == 2, !["-v", "-V"].contains(name) {
            let isValue = !isBeforeCommand && line.nextArgument != nil
            return .usage(unknown, hint: hint + (isValue ? "; " + Self.behindDashes("VALUE") : ""))
        }
        let options = isBeforeCommand ? nil : line.read?.declarations.all
        let known = (options ?? Declarations.of(GlobalOptions.self)).flatMap(\.words).filter { $0.hasPrefix("--") }
        let nearest =
            ["-v", "-V"].contains(name)
            ? "version"
            : Spelling.nearest(
                String(name.drop { $0 == "-" }),
                among: (known + ["--help", "--version"]).map { String($0.dropFirst(2)) })
        return .usage(unknown + (nearest.map { "; did you mean '--\($0)'?" } ?? ""), hint: hint)
    }

    private static func behindDashes(_ value: String) -> String {
        "put a value that begins with a dash after two dashes: -- \(value)"
    }

    private func invalidValue(
        _ declaration: Declaration, _ name: String?, _ word: String, _ reason: String?
    ) -> Explanation {
        let label = declaration.label(as: name)
        if label.hasPrefix("--"), label.contains(bytesOf: "-fd ") {
            return .usage(
                "the value is invalid for '\(label)', which takes the number of an open file descriptor",
                hint: hint(declaration, name))
        }
        if word.isEmpty, reason == nil {
            return .usage("the value of '\(label)' must not be empty", hint: hint(declaration, name))
        }
        let all = declaration.choices.allowed
        let quoted = all.map { "'\($0)'" }
        let choices =
            switch all.count {
            case 0, 1: ""
            case 2: ", it must be \(quoted[0]) or \(quoted[1])"
            case 3, 4: ", it must be one of \(quoted.dropLast().joined(separator: ", ")) or \(quoted.last ?? "")"
            default: ", it must be one of \(all.listed())"
            }
        return .usage(
            "the value '\(word.printable)' is invalid for '\(label)'"
                + (reason.map { ": " + $0.asSentencePart } ?? choices),
            hint: hint(declaration, name))
    }

    // MARK: - arguments

    private func missing(_ declaration: Declaration) -> Explanation {
        let isList = declaration.words.isEmpty && declaration.isRepeated
        return .usage(
            "missing expected argument '\(declaration.label())\(isList ? " ..." : "")'", hint: hint(declaration, nil))
    }

    /// Words that may be secrets are not repeated.
    private func tooMany(_ words: [String]) -> Explanation {
        let readers = Declarations.brief(line.command)
        let output = isFile(words) ? "; the result goes to standard output: > FILE" : ""
        if readers.isEmpty, !words.contains(where: \.isKeyMaterial) {
            let quoted = words.map { "'\($0.printable)'" }.joined(separator: ", ")
            return .usage(
                words.count == 1 ? "unexpected argument \(quoted)" : "\(words.count) unexpected arguments: \(quoted)",
                hint: usage + output)
        }
        // The secret that a verb is about has no title, or that of its new value; others only unlock the key.
        let own = readers.first { ["", "Secret Options"].contains($0.title) } ?? readers.first
        let secret = (own?.options.readers ?? []).listed()
        return .usage(
            "\(group) takes \(count)",
            hint: usage + output
                + (secret.isEmpty
                    ? "" : "; a secret is never an argument: ykit prompts for it, or reads it with \(secret)"))
    }

    /// The number of arguments that the verb takes.
    private var count: String {
        let arguments = (line.read?.declarations.all ?? []).filter(\.words.isEmpty).count
        return arguments == 0 ? "no argument" : arguments == 1 ? "one argument" : "\(arguments) arguments"
    }

    /// Whether a verb without arguments is given the name of a file.
    private func isFile(_ words: [String]) -> Bool {
        let takesNone = (line.read?.declarations.all ?? []).allSatisfy { !$0.words.isEmpty }
        return takesNone && words.contains { ($0.contains(".") || $0.contains("/")) && !$0.isKeyMaterial }
    }
}
