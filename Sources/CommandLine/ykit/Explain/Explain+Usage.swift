// SPDX-License-Identifier: Apache-2.0

import YKWire

extension Explain {
    /// The first word of the line that no command has, or that none is there; `nil` when the words lead to a verb, or to help.
    static func unknownCommand(_ line: [String], from root: any Word.Type) -> Explanation? {
        var command = root
        var path: [String] = []
        for word in line.first == "help" ? line.dropFirst() : line[...] {
            let configuration: CommandConfiguration = command.configuration
            guard command.unread == nil else { return nil }
            path.append(configuration.commandName)
            guard !word.hasPrefix("-") else { return missingCommand(line, word, of: path.joined(separator: " ")) }
            guard let next = configuration.subcommand(word) else {
                return unknown(word, of: path.joined(separator: " "), configuration)
            }
            command = next
        }
        return nil
    }

    /// A group with nothing behind it but global options.
    private static func missingCommand(_ line: [String], _ word: String, of path: String) -> Explanation? {
        guard ArgumentRewriting.isGlobal(word), !line.contains(where: { ["-h", "--help"].contains($0) }) else {
            return nil
        }
        return .usage("\(path) needs a command", hint: "'\(path) --help' lists them")
    }

    private static func unknown(_ word: String, of path: String, _ group: CommandConfiguration) -> Explanation {
        let shown = group.subcommands.map { $0.configuration as CommandConfiguration }.filter(\.shouldDisplay)
        let nearest = Spelling.nearest(word, among: shown.flatMap { [$0.commandName] + $0.aliases })
        return .usage(
            "\(path) has no command '\(word.printable)'" + (nearest.map { "; did you mean '\($0)'?" } ?? ""),
            hint: "'\(path) --help' lists them")
    }

    /// What ArgumentParser says of a line: its message, the values that can be, help for one option, the usage.
    static func usage(_ text: String, of line: [String] = []) -> Explanation {
        var problem: [String] = []
        var hints: [String] = []
        if let bytes = line.first(where: { LineReader.isBytes($0) && text.contains("'\($0)'") }) {
            hints.append("a value that begins with a dash goes behind a word of two dashes: -- \(bytes.printable)")
        }
        for line in text.split(separator: "\n").map({ String($0).trimmed }) {
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            switch (parts.first, parts.last ?? "") {
            case ("Error:", let error): problem.append(withoutFarGuess(error.asSentencePart))
            case ("-", let value): problem.append(value)
            case ("Help:", let help): hints.append(option(help))
            case ("Usage:", let usage): hints.append(usage)
            case ("See", let see): hints.append("more with " + see.replacing(" for more information.", with: ""))
            default: problem.append(line)
            }
        }
        let message = (problem.first ?? "usage") + " " + problem.dropFirst().joined(separator: ", ")
        let said = message.replacing(". Please provide one of", with: ", it is one of")
            .replacing("one of the following:", with: "one of")
            .replacing(". Did you mean", with: "; did you mean")
        return .usage(said.trimmed, hint: hints.isEmpty ? nil : hints.joined(separator: "; "))
    }

    /// The message without a guess that is not near what was typed.
    private static func withoutFarGuess(_ message: String) -> String {
        let parts = message.split(separator: "'", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, parts[2].contains("Did you mean") else { return message }
        return Spelling.nearest(parts[1], among: [parts[3]]) == nil ? "\(parts[0])'\(parts[1])'" : message
    }

    /// An option, or the name of an argument, and behind two spaces what is said of it.
    private static func option(_ help: String) -> String {
        help.trimmed.split(separator: "  ", maxSplits: 1).map { String($0).trimmed.asSentencePart }
            .joined(separator: ": ")
    }
}
