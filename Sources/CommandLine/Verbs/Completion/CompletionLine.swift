// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO

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
        for about in line.command.about.subcommands.map({ $0.about }) where about.shouldDisplay {
            let typed = current.isEmpty || about.name.hasPrefix(current) ? [about.name] : about.aliases
            offers += typed.map { Offer(word: $0, about: about.abstract) }
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
