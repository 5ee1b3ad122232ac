// SPDX-License-Identifier: Apache-2.0

import Arguments

/// An incomplete command line and its possible completions. No key is accessed.
struct CompletionLine {
    /// The words before the current one, without `ykit`.
    let words: [String]
    /// The part of the current word that was typed.
    let current: String
    /// Names of keys, readers and accounts from earlier listings.
    let names: RememberedNames
    /// The aliases of the configuration file.
    var aliases: [(name: String, words: [String])] = []

    /// The completions.
    struct Offers: Equatable {
        var words: [Offer] = []
        /// Which file names the shell adds.
        var files = Choices.Files.none
    }

    /// A completion and its description.
    struct Offer: Equatable {
        let word: String
        let about: String
    }

    /// Returns the completions at the end of the line.
    func offers() -> Offers {
        var place = Place(root: Ykit.self, aliases)
        for word in words where !place.take(word) { return Offers() }
        var offers = place.offers(for: current, names)
        offers.words.removeAll { !$0.word.hasPrefix(current) || $0.word.isEmpty || $0.word != $0.word.printable }
        return offers
    }
}

/// The position of the parser on the line.
private struct Place {
    private var word: any ParsableCommand.Type
    private var path: [String] = []
    private var isRoot: Bool { path.isEmpty }
    private var isHelp = false
    /// The verb, once it is known.
    private var verb: KnownVerb?
    private var options: [KnownVerb.Item] { verb?.options ?? KnownVerb(GlobalOptions.self).options }
    /// The option whose value is next.
    private var pending: KnownVerb.Item?
    private var given: Set<String> = []
    private var argumentCount = 0
    private var hasEnded = false

    private let aliases: [(name: String, words: [String])]

    init(root: any ParsableCommand.Type, _ aliases: [(name: String, words: [String])]) {
        word = root
        self.aliases = aliases
    }

    /// Consumes a word; returns `false` if the line is invalid.
    mutating func take(_ text: String) -> Bool {
        if let option = pending {
            pending = nil
            let isGroup = isRoot && (word.about.subcommand(text) != nil || aliases.contains { $0.name == text })
            if !(option.isStateFile && isGroup) { return true }
        }
        if !hasEnded, text.hasPrefix("-"), text != "-" {
            hasEnded = text == "--"
            let name = String(text.prefix { $0 != "=" })
            given.insert(name)
            if name == text { pending = option(name).flatMap { $0.takesValue ? $0 : nil } }
            return true
        }
        guard verb == nil else {
            argumentCount += 1
            return true
        }
        if text == "help", !isHelp {
            isHelp = true
            return true
        }
        guard let next = word.about.subcommand(text) else {
            guard isRoot, !isHelp, let alias = aliases.first(where: { $0.name == text }) else { return false }
            return alias.words.allSatisfy { take($0) }
        }
        word = next
        path.append(next.about.name)
        if !isHelp { verb = next.isVerb ? KnownVerb(next) : nil }
        return true
    }

    func offers(for current: String, _ names: RememberedNames) -> CompletionLine.Offers {
        if let option = pending {
            var offers = values(of: option, names)
            if option.isStateFile, isRoot { offers.words += subcommands(current) }
            return offers
        }
        if !hasEnded, current.hasPrefix("-") { return options(current, names) }
        guard let verb else { return .init(words: subcommands(current)) }
        guard let item = verb.argument(argumentCount) else { return .init() }
        if path.first == "oath", Self.accountVerbs.contains(path.last ?? ""), argumentCount == 0 {
            return .init(words: names.accounts.map { .init(word: $0, about: "account") })
        }
        return values(of: item, names)
    }

    private static let accountVerbs: Set = ["calculate", "delete", "rename"]

    private func option(_ name: String) -> KnownVerb.Item? {
        options.first { $0.names.contains(name) }
    }

    /// Completes option names, or `NAME=VALUE` once the name is typed.
    private func options(_ current: String, _ names: RememberedNames) -> CompletionLine.Offers {
        if let equals = current.firstIndex(of: "=") {
            let name = String(current[..<equals])
            guard let option = option(name), option.takesValue else { return .init() }
            var offers = values(of: option, names)
            offers.words = offers.words.map { .init(word: "\(name)=\($0.word)", about: $0.about) }
            return offers
        }
        let shown = options.filter { option in
            option.isShown && (option.declaration.isRepeated || given.isDisjoint(with: option.names))
        }
        let words = shown.flatMap { option in
            option.names.filter { $0.hasPrefix("--") }.map { CompletionLine.Offer(word: $0, about: option.about) }
        }
        let help = CompletionLine.Offer(word: "--help", about: "Show help.")
        return .init(words: words.contains { $0.word == help.word } ? words : words + [help])
    }

    /// The subcommands that can follow; an alias only if its beginning was typed.
    private func subcommands(_ current: String) -> [CompletionLine.Offer] {
        var offers: [CompletionLine.Offer] = []
        for next in word.about.subcommands where next.about.shouldDisplay {
            let (name, aliases, about) = (
                next.about.name, next.about.aliases, next.about.abstract
            )
            let typed = current.isEmpty || name.hasPrefix(current) ? [name] : aliases
            offers += typed.map { .init(word: $0, about: about) }
        }
        guard isRoot else { return offers }
        guard isHelp else {
            return offers + aliases.map { .init(word: $0.name, about: "ykit " + $0.words.joined(separator: " ")) }
        }
        return offers + HelpTopic.allCases.map { .init(word: $0.rawValue, about: "") }
    }

    private func values(of item: KnownVerb.Item, _ names: RememberedNames) -> CompletionLine.Offers {
        if item.names.contains("--device") { return .init(words: names.serials.map { .init(word: $0, about: "key") }) }
        if item.names.contains("--reader") {
            return .init(words: names.readers.map { .init(word: $0, about: "reader") })
        }
        let choices = item.declaration.choices
        return .init(words: choices.values.map { .init(word: $0, about: "") }, files: choices.files)
    }
}
