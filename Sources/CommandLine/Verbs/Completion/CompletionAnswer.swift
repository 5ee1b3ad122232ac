// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import YKHardware
package import YKInteraction
import YKWire

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

/// An incomplete command line and its possible completions. No key is accessed.
struct CompletionLine {
    /// The words before the current one, without `ykit`.
    package let words: [String]
    /// The part of the current word that was typed.
    package let current: String
    /// Names of keys, readers and accounts from earlier listings.
    package let names: RememberedNames
    /// The aliases of the configuration file.
    package var aliases: [(name: String, words: [String])] = []

    /// The completions.
    struct Offers: Equatable {
        package var words: [Offer] = []
        /// Which file names the shell adds.
        package var files = Files.none

        /// The kind of file system object.
        package enum Files {
            case none, files, folders
        }
    }

    /// A completion and its description.
    package struct Offer: Equatable {
        package let word: String
        package let about: String
    }

    /// Returns the completions at the end of the line.
    func offers() -> Offers {
        let aliases = aliases
        let parser = CommandLineParser.ykit { name in aliases.first { $0.name == name }?.words }
        guard var line = try? parser.walk(words), line.isUnderstood else { return Offers() }
        var offers = offers(&line)
        offers.words.removeAll { !$0.word.hasPrefix(current) || $0.word.isEmpty || $0.word != $0.word.printable }
        return offers
    }

    private func offers(_ line: inout LineWalk) -> Offers {
        if let (option, _) = line.pending {
            var offers = values(of: option)
            if option.omitted != nil, line.path.isEmpty { offers.words += subcommands(line) }
            return offers
        }
        if !line.hasEnded, current.hasPrefix("-") { return options(&line) }
        guard line.read != nil else { return line.command.isVerb ? Offers() : Offers(words: subcommands(line)) }
        return line.nextArgument.map(values) ?? Offers()
    }

    /// Completes option names, or `NAME=VALUE` once the name is typed.
    private func options(_ line: inout LineWalk) -> Offers {
        if let equals = current.firstIndex(of: "=") {
            let name = String(current[..<equals])
            guard let option = line.option(name), option.takesValue else { return Offers() }
            var offers = values(of: option)
            offers.words = offers.words.map { Offer(word: "\(name)=\($0.word)", about: $0.about) }
            return offers
        }
        let given = line.given.map(\.option)
        let words = line.allOptions.flatMap { option -> [Offer] in
            guard let help = option.help, option.isRepeated || !given.contains(where: { $0 === option }) else {
                return []
            }
            return option.words.filter { $0.hasPrefix("--") }.map { Offer(word: $0, about: help) }
        }
        return Offers(words: words + [Offer(word: "--help", about: "Show help.")])
    }

    /// The subcommands that can follow; an alias only if its beginning was typed.
    private func subcommands(_ line: LineWalk) -> [Offer] {
        var offers: [Offer] = []
        for command in line.command.about.subcommands where command.about.shouldDisplay {
            let typed = current.isEmpty || command.name.hasPrefix(current) ? [command.name] : command.aliases
            offers += typed.map { Offer(word: $0, about: command.about.abstract) }
        }
        guard line.path.isEmpty else { return offers }
        guard line.isHelpWord else {
            return offers + aliases.map { Offer(word: $0.name, about: "ykit " + $0.words.joined(separator: " ")) }
        }
        return offers + HelpTopic.allCases.map { Offer(word: $0.rawValue, about: "") }
    }

    /// The completions of a value, according to its declaration.
    private func values(of declaration: Declaration) -> Offers {
        switch declaration.choices.completion {
        case .serials: Offers(words: names.serials.map { Offer(word: $0, about: "key") })
        case .readers: Offers(words: names.readers.map { Offer(word: $0, about: "reader") })
        case .accounts: Offers(words: names.accounts.map { Offer(word: $0, about: "account") })
        case .file, .input: Offers(files: .files)
        case .directory: Offers(files: .folders)
        case .list, .inputText, nil: Offers(words: declaration.choices.values.map { Offer(word: $0, about: "") })
        }
    }
}

/// Names from earlier listings, stored for completion, which never accesses a key.
///
/// They are in `$XDG_CACHE_HOME/ykit/names.json`, which only its owner may read: serial numbers, reader names, and
/// names of OATH accounts without a password. `YKIT_NAMES=off` stores none.
package struct RememberedNames: Equatable {
    package var serials: [String] = []
    package var readers: [String] = []
    package var accounts: [String] = []

    /// The maximum number of names of each kind.
    private static let limit = 256

    /// Reads the names; returns none if the file is missing or unreadable.
    package static func read(_ variables: EnvironmentVariables) -> RememberedNames {
        path(variables).map(read) ?? RememberedNames()
    }

    private static func read(_ path: String) -> RememberedNames {
        guard Files.isFile(path), let bytes = try? Files.read(path), let json = try? JSONValue(parsing: bytes)
        else { return RememberedNames() }
        func list(_ key: String) -> [String] { (json[key]?.array ?? []).compactMap(\.string) }
        return RememberedNames(serials: list("serials"), readers: list("readers"), accounts: list("accounts"))
    }

    /// Updates the names; write errors are ignored, since nothing depends on them.
    fileprivate static func update(_ variables: EnvironmentVariables, _ change: (inout RememberedNames) -> Void) {
        guard let path = path(variables) else { return }
        let before = read(path)
        var all = before
        change(&all)
        all = RememberedNames(serials: kept(all.serials), readers: kept(all.readers), accounts: kept(all.accounts))
        guard all != before else { return }
        let object: JSONValue = [
            "serials": .array(all.serials.map(JSONValue.string)), "readers": .array(all.readers.map(JSONValue.string)),
            "accounts": .array(all.accounts.map(JSONValue.string)),
        ]
        UserFolder.make(String(path.dropLast("/names.json".count)))
        try? Files.write(Array(object.text.utf8), to: path)
    }

    private static func kept(_ names: [String]) -> [String] { Array(names.filter { $0 == $0.printable }.prefix(limit)) }

    /// The path of the file; `nil` if names are disabled or have no folder.
    private static func path(_ variables: EnvironmentVariables) -> String? {
        guard variables["YKIT_NAMES"] != "off" else { return nil }
        if let cache = variables["XDG_CACHE_HOME"], cache.hasPrefix("/") { return cache + "/ykit/names.json" }
        return variables["HOME"].flatMap { $0.hasPrefix("/") ? $0 + "/.cache/ykit/names.json" : nil }
    }
}

extension Run {
    /// Stores names for completion, unless they come from a recording or a virtual key.
    package func remember(_ change: (inout RememberedNames) -> Void) {
        guard options.replay == nil, options.virtual == nil, !options.plan else { return }
        RememberedNames.update(stage.variables, change)
    }
}
