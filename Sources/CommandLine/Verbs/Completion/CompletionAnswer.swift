// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO

/// The answer to a shell's completion request: `ykit __complete zsh|fish WORD…` with the words after `ykit` up to the
/// cursor, or `ykit __complete bash LINE PIECE` with the line up to the cursor and the part that bash replaces.
///
/// The first line says whether the shell should add file names (`words`, `files`, `folders`); every other line is a
/// completion, for zsh and fish followed by a tab and its description.
enum CompletionAnswer {
    /// The first word of a completion request.
    package static let word = "__complete"

    /// Returns the lines to print.
    package static func lines(
        _ arguments: [String], _ names: RememberedNames, aliases: [(name: String, words: [String])] = []
    ) -> [String] {
        guard let shell = arguments.first.flatMap(Completion.Shell.init) else { return [] }
        guard shell == .bash else {
            let words = Array(arguments.dropFirst())
            let line = CompletionLine(
                words: words.dropLast(), current: words.last ?? "", names: names, aliases: aliases)
            let offers = line.offers()
            return [word(offers.files)] + offers.words.map { "\($0.word)\t\(about($0))" }
        }
        guard arguments.count == 3 else { return [] }
        let words = ShellWords.split(arguments[1]).dropFirst()
        let current = words.last ?? ""
        let offers = CompletionLine(words: words.dropLast(), current: current, names: names, aliases: aliases).offers()
        let piece = [":", "=", "@"].contains(arguments[2]) ? "" : ShellWords.split(arguments[2]).last ?? ""
        let kept = current.hasSuffix(piece) ? current.count - piece.count : 0
        return [word(offers.files)] + offers.words.map { String($0.word.dropFirst(kept)) }
    }

    /// The keyword on the first line.
    private static func word(_ files: CompletionLine.Offers.Files) -> String {
        switch files {
        case .none: "words"
        case .files: "files"
        case .folders: "folders"
        }
    }

    /// A short description of a completion.
    private static func about(_ offer: CompletionLine.Offer) -> String {
        let sentence = offer.about.split(separator: "\n").first.map(String.init) ?? ""
        return sentence.count <= 70 ? sentence : sentence.prefix(69) + "…"
    }
}

/// Splits a line as a shell does, as far as completion requires.
enum ShellWords {
    /// Returns the words; the last is empty if the line ends with a space. An open quotation mark extends to the end.
    package static func split(_ line: String) -> [String] { parse(line).words }

    /// Returns the words of a complete line; `nil` if a quotation mark is open.
    package static func complete(_ line: String) -> [String]? {
        let (words, isOpen) = parse(line)
        return isOpen ? nil : words.last?.isEmpty == true ? words.dropLast() : words
    }

    private static func parse(_ line: String) -> (words: [String], isOpen: Bool) {
        var words: [String] = []
        var word = ""
        var quote: Character?
        var isEscaped = false
        for character in line {
            if isEscaped {
                word.append(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if character == quote {
                quote = nil
            } else if quote == nil, character == "\"" || character == "'" {
                quote = character
            } else if quote == nil, character.isWhitespace {
                if !word.isEmpty { words.append(word) }
                word = ""
            } else {
                word.append(character)
            }
        }
        return (words + [word], quote != nil || isEscaped)
    }
}
