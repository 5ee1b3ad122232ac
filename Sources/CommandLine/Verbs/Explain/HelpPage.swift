// SPDX-License-Identifier: Apache-2.0

package import Arguments
import TerminalIO

/// The help of a command: a verb's own arguments and options, its examples, and last, in a few rows, where secrets are
/// read from and what explains the global options.
struct HelpPage {
    /// The words that lead to the command, with `ykit`.
    package let path: [String]
    package let command: any ParsableCommand.Type
    package let columns: Int

    /// The column in which explanations begin.
    private static let indent = 26
    /// The page for the command that the words of a line lead to.
    package static func text(of line: LineWalk, columns: Int) -> String {
        line.path.isEmpty
            ? FirstScreen.text : HelpPage(path: ["ykit"] + line.path, command: line.command, columns: columns).text
    }

    private var text: String {
        let about = command.about
        let discussion = about.discussion()
        var parts = ["OVERVIEW: " + about.abstract] + (discussion.isEmpty ? [] : [discussion])
        parts = parts.map { $0.folded(to: columns) }
        parts += [usage]
        parts += command.isVerb ? options : groups
        let examples = about.examples()
        if !examples.isEmpty { parts.append(section("EXAMPLES", examples.flatMap(rows(of:)))) }
        return (parts + (command.isVerb ? last : [])).joined(separator: "\n\n")
    }

    private var groups: [String] {
        let rows = command.about.subcommands.filter(\.about.shouldDisplay).map {
            row($0.names.joined(separator: ", "), $0.about.abstract)
        }
        return [
            section("SUBCOMMANDS", rows),
            "  See 'ykit help \(path.dropFirst().joined(separator: " ")) <subcommand>' for detailed help.",
        ]
    }

    // MARK: - verbs

    private var options: [String] {
        let shown = Declarations.titled(command).filter { $0.title != GlobalOptions.title }
            .map { ($0.title, $0.declarations.filter { $0.help != nil }) }
        func rows(_ list: [Declaration], areArguments: Bool) -> [String] {
            list.filter { $0.words.isEmpty == areArguments }.map { row($0.spelling, $0.explanation) }
        }
        let arguments = shown.flatMap { rows($0.1, areArguments: true) }
        var parts = arguments.isEmpty ? [] : [section("ARGUMENTS", arguments)]
        for (title, list) in shown.filter(\.0.isEmpty) + shown.filter({ !$0.0.isEmpty }) {
            let rows = rows(list, areArguments: false)
            if !rows.isEmpty { parts.append(section(title.isEmpty ? "OPTIONS" : title.uppercased(), rows)) }
        }
        return parts
    }

    /// Where secrets are read from, and the options of all verbs.
    private var last: [String] {
        let secrets = Declarations.brief(command).filter { $0.title != GlobalOptions.title }.map {
            row($0.options.label, $0.options.text)
        }
        let global = "GLOBAL OPTIONS: --json, --plan, --virtual and others: 'ykit help options'."
        return (secrets.isEmpty ? [] : [section("SECRETS, prompted for unless given", secrets)])
            + [global.wrapped(to: columns).joined(separator: "\n")]
    }

    /// The usage of the command, in lines that fit.
    private var usage: String {
        let words = command.isVerb ? Self.synopsis(Declarations.of(command)) : ["<subcommand>"]
        var lines = ["USAGE: " + path.joined(separator: " ")]
        for word in words {
            if lines[lines.count - 1].columns + 1 + word.columns <= columns {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append("         " + word)
            }
        }
        return lines.joined(separator: "\n")
    }

    /// A verb or group on one line.
    static func synopsis(of line: LineWalk) -> String {
        let words = line.command.isVerb ? synopsis(Declarations.of(line.command)) : ["<subcommand>"]
        return (["ykit"] + line.path + words).joined(separator: " ")
    }

    /// The required options and all arguments, in the order of their declaration.
    static func synopsis(_ declarations: [Declaration]) -> [String] {
        let words = declarations.compactMap { declaration -> String? in
            let isRequired = declaration.value == nil
            guard declaration.words.isEmpty else { return isRequired ? declaration.label() : nil }
            guard declaration.help != nil else { return nil }
            let list = declaration.isRepeated ? " ..." : ""
            return isRequired ? declaration.label() + list : "[\(declaration.label())\(list)]"
        }
        guard declarations.contains(where: { !$0.words.isEmpty && $0.value != nil }) else { return words }
        return ["[options]"] + words
    }

    // MARK: - layout

    private func section(_ title: String, _ rows: [String]) -> String {
        ([title + ":"] + rows).joined(separator: "\n")
    }

    /// An example: what it does, and below it the command line, which is never wrapped.
    private func rows(of example: Example) -> [String] {
        let purpose = example.purpose.isEmpty ? [] : ["# " + example.purpose]
        return purpose.flatMap { $0.filled(to: columns - 2) }.map { "  " + $0 } + ["  " + example.line]
    }

    private func row(_ label: String, _ about: String) -> String { Self.row(label, about, columns) }

    /// A label, and its explanation in a separate column.
    static func row(_ label: String, _ about: String, _ columns: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        let lines = about.folded(to: columns - indent).split(separator: "\n", omittingEmptySubsequences: false)
        let head = "  " + label
        if about.isEmpty { return head }
        let rest = lines.map { margin + $0 }
        guard head.columns < indent, let first = lines.first else {
            return ([head] + rest).joined(separator: "\n")
        }
        return ([head.padded(to: indent) + first] + rest.dropFirst()).joined(separator: "\n")
    }

    /// The global options with their explanations.
    package static func explained(_ columns: Int) -> String {
        Declarations.of(GlobalOptions.self).filter { $0.help != nil }
            .map { row($0.spelling, $0.explanation, columns) }.joined(separator: "\n")
    }
}

extension Declaration {
    /// The names, shortest first, and the value.
    package var spelling: String {
        switch place {
        case .option(let names): spelled(names.words) + " <\(names.value ?? names.plain)>"
        case .flag(let names): spelled(names.words)
        case .pair(let names): spelled(names.words) + "/--no-" + names.plain
        case .argument(let name): "<\(name)>"
        }
    }

    private func spelled(_ words: [String]) -> String {
        (words.filter { !$0.hasPrefix("--") } + words.filter { $0.hasPrefix("--") }).joined(separator: ", ")
    }

    /// The help text, with the possible values, unless the text names them all, and the default.
    package var explanation: String {
        let words = Set((help ?? "").split { " ,.;:()'".contains($0) }.map(String.init))
        let isNamed = choices.allowed.allSatisfy(words.contains)
        let values = isNamed ? [] : ["values: " + choices.allowed.joined(separator: ", ")]
        let notes = values + (standard.isEmpty ? [] : ["default: " + standard])
        return ([help ?? ""] + (notes.isEmpty ? [] : ["(\(notes.joined(separator: "; ")))"])).joined(separator: " ")
    }
}

extension String {
    /// The text in lines of at most `width` columns, each with the space at which it is folded. Indentation is kept.
    fileprivate func folded(to width: Int) -> String {
        split(separator: "\n", omittingEmptySubsequences: false).map { line in
            var lines: [String] = []
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            var current = String(words.first ?? "")
            for (index, word) in words.enumerated().dropFirst() {
                let space = index == words.count - 1 ? 0 : 1
                if current.contains(where: { $0 != " " }), current.columns + 1 + String(word).columns + space > width {
                    lines.append(current)
                    current = String(word)
                } else {
                    current += " " + word
                }
            }
            return (lines + [current]).joined(separator: "\n")
        }.joined(separator: "\n")
    }
}
