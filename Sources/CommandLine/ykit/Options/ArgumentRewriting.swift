// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Allows the global options anywhere on the line by moving them to the end, where the verb parses them.
struct ArgumentRewriting {
    /// Whether a word can follow `ykit` and is therefore not a file name.
    var isGroup: (String) -> Bool
    /// Whether a file of this name exists.
    var exists: (String) -> Bool

    /// Global options with a value.
    static let valued = [
        "--device", "--reader", "--path", "--link", "--timeout", "--record", "--replay", "--replay-mode",
        "--log-level", "--log-file", "--color", "--scp", "--scp-keys", "--scp-keys-fd", "--scp-ca", "--scp-card-key",
        "--scp-oce",
        "--scp-oce-ca", "--scp-password-fd",
    ]
    /// Global flags.
    static let flags = ["--json", "--strict", "--quiet", "-q", "--notify", "--keep-secrets", "--plan"]

    /// The value of `--virtual` without a file name.
    static let inMemory = ":memory:"

    /// The default address of vpcd.
    static let usualAddress = "127.0.0.1:35963"

    /// Returns the arguments in the order that the verb's parser expects; `--virtual` always gets a value, `:memory:`
    /// for the demonstration key.
    func rewrite(_ arguments: [String]) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        var words = arguments[..<end]
        var own: [String] = []
        var global: [String] = []
        while let word = words.popFirst() {
            let name = Self.name(of: word)
            if word == "--virtual" {
                global.append(
                    "--virtual=" + takeStateFile(&words, isBeforeGroup: !own.contains(where: isGroup)))
            } else if word == "--vpcd", words.first?.hasPrefix("-") ?? true {
                own.append("--vpcd=" + Self.usualAddress)
            } else if Self.valued.contains(name) {
                global.append(word)
                if name == word, let value = words.popFirst() { global.append(value) }
            } else if Self.flags.contains(word) || name == "--virtual" {
                global.append(word)
            } else {
                own.append(word)
            }
        }
        return own + (own.starts(with: ["oath", "add"]) ? Self.again(global) : global) + arguments[end...]
    }

    /// Renames all but the first `--device` of a verb that works on several keys to the verb's own option.
    private static func again(_ words: [String]) -> [String] {
        var isFirst = true
        return words.map { word in
            guard word == "--device" || word.hasPrefix("--device=") else { return word }
            defer { isFirst = false }
            return isFirst ? word : "--also" + word.dropFirst()
        }
    }

    /// Returns the reordered arguments, with an alias expanded, and with `help` moved before its group.
    func rewrite(
        _ arguments: [String], groups root: any ParsableCommand.Type,
        alias: (String) throws(Explanation) -> [String]? = { _ in nil }
    ) throws(Explanation) -> [String] {
        var words = rewrite(arguments)
        if let first = words.first, !first.hasPrefix("-"), first != "help", root.about.subcommand(first) == nil,
            let meant = try alias(first)
        {
            words = rewrite(meant + words.dropFirst())
        }
        guard words.contains("help") else { return words }
        var group = root
        for (index, word) in words.enumerated() {
            if word == "help", index > 0 {
                words.remove(at: index)
                return ["help"] + words
            }
            guard let next = group.about.subcommand(word), !next.isVerb else { break }
            group = next
        }
        return words
    }

    /// Whether a word is one of the global options.
    static func isGlobal(_ word: String) -> Bool {
        let name = name(of: word)
        return valued.contains(name) || flags.contains(name) || name == "--virtual"
    }

    /// The word without the value after an equals sign.
    private static func name(of word: String) -> String {
        word.utf8.firstIndex(of: UInt8(ascii: "=")).map { String(word[..<$0]) } ?? word
    }

    /// Takes the word after `--virtual` if it is a file name. Before the group, that is anything but an option or a
    /// group; after it, where verbs have arguments of their own, only a path or an existing file.
    private func takeStateFile(_ words: inout ArraySlice<String>, isBeforeGroup: Bool) -> String {
        guard let next = words.first, !next.hasPrefix("-") else { return Self.inMemory }
        let isFile = isBeforeGroup ? !isGroup(next) : next.isEmpty || next.contains("/") || exists(next)
        guard isFile else { return Self.inMemory }
        words.removeFirst()
        return next
    }
}
