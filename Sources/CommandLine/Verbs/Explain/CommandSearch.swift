// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import YKWire

/// Finds commands by words: those of a line that are no command there, and those of `ykit help -k`.
struct CommandSearch {
    /// A command as it is found.
    struct Entry {
        let path: [String]
        fileprivate let named: NamedCommand
        var command: any ParsableCommand.Type { named.command }

        /// The words after `ykit`.
        var line: String { path.joined(separator: " ") }

        /// The parts of its names and alternative names.
        fileprivate func parts(after count: Int) -> Set<String> {
            let names = path.dropFirst(count) + (path.count > count ? named.aliases : [])
            return Set(names.flatMap { $0.split(separator: "-").map(String.init) })
        }
    }

    private let all: [Entry]

    init() { all = Self.entries(below: Program.root, []) }

    private static func entries(below group: any ParsableCommand.Type, _ path: [String]) -> [Entry] {
        group.about.subcommands.filter(\.about.shouldDisplay).flatMap { named in
            let path = path + [named.name]
            return [Entry(path: path, named: named)] + entries(below: named.command, path)
        }
    }

    // MARK: - a word at the wrong place

    /// The commands that a line may mean whose last words are no command of the group that the others lead to.
    ///
    /// - Parameters:
    ///   - words: The words of the line that are not options.
    ///   - path: The group that the first of them lead to.
    func meant(_ words: [String], in path: [String]) -> [String] {
        let typed = path + words.dropFirst(path.count)
        if let (commands, count) = CommandSynonyms.commands(typed), count > path.count {
            return commands.map { continued($0, by: typed.dropFirst(count)) }
        }
        let parts = words.dropFirst(path.count).prefix(2).map { $0.lowercased().split(separator: "-").map(String.init) }
        for query in [parts.flatMap(\.self), parts.first ?? []] where !query.isEmpty {
            for depth in stride(from: path.count, through: 0, by: -1) {
                let found = find(query, below: path.prefix(depth))
                if !found.isEmpty, depth > 0 || path.isEmpty || found.count <= 4 { return found }
            }
        }
        return []
    }

    /// The command with the further words that belong to it.
    private func continued(_ command: String, by words: ArraySlice<String>) -> String {
        var path = command.split(separator: " ").map(String.init)
        for word in words {
            guard all.contains(where: { $0.path == path + [word] }) else { break }
            path.append(word)
        }
        return path.joined(separator: " ")
    }

    /// The commands of a group whose names have all of these parts, without those below another one found.
    private func find(_ parts: [String], below group: ArraySlice<String>) -> [String] {
        let wanted = parts.map(CommandSynonyms.meanings)
        let found = all.filter { entry in
            guard entry.path.starts(with: group), entry.path.count > group.count else { return false }
            let names = entry.parts(after: group.count)
            return wanted.allSatisfy { !$0.isDisjoint(with: names) }
        }
        let exact = found.filter { entry in
            let name = parts.joined(separator: "-")
            return entry.path.last == name || entry.named.aliases.contains(name)
        }
        return (exact.isEmpty ? found : exact).filter { entry in
            !found.contains { $0.path.count < entry.path.count && entry.path.starts(with: $0.path) }
        }.map(\.line)
    }

    // MARK: - help -k

    /// The commands that have all of these words in their names, in what else they are called, or in their help.
    ///
    /// - Throws: `Explanation` if no word is given, or nothing has them.
    static func text(_ words: [String], columns: Int) throws -> String {
        guard !words.isEmpty else { throw Explanation.usage("-k requires a word", hint: "ykit help -k WORD") }
        let wanted = words.map { $0.lowercased() }
        let ranked = CommandSearch().ranked(wanted) + topics(wanted)
        let near = ranked.filter { $0.rank < 3 }
        let shown = near.count >= 5 ? near : ranked
        guard !shown.isEmpty else {
            throw Explanation(
                "not-found", .notFound, "no command or help text contains '\(words.joined(separator: " ").printable)'",
                hint: "'ykit --help' lists the groups")
        }
        let rows = shown.sorted { $0.rank < $1.rank }.map { HelpPage.row("ykit " + $0.line, $0.about, columns) }
        let others = ranked.count - shown.count
        return
            (rows
            + (others > 0
                ? ["", "  \(others) more \(others == 1 ? "has" : "have") the word in the text of the help."] : []))
            .joined(separator: "\n")
    }

    private typealias Hit = (rank: Int, line: String, about: String)

    private func ranked(_ wanted: [String]) -> [Hit] {
        all.compactMap { entry in
            let about = entry.command.about
            // With a further word, what a group is called leads to one of its commands: "delete passkey".
            let lengths = wanted.count > 1 ? 1...entry.path.count : entry.path.count...entry.path.count
            let lines = lengths.map { entry.path.prefix($0).joined(separator: " ") }
            let others = CommandSynonyms.commands.filter { !Set($0.ykit).isDisjoint(with: lines) }.flatMap(\.typed)
            var texts = [
                ([entry.line] + entry.named.aliases).joined(separator: " "), others.joined(separator: " "),
                about.abstract,
            ]
            if !Self.all(wanted, in: texts.joined(separator: " ")) {
                let options = entry.command.isVerb ? Self.own(entry.command) : ""
                texts.append(about.discussion() + " " + options)
            }
            var text = ""
            for (rank, next) in texts.enumerated() {
                text += " " + next
                if Self.all(wanted, in: text) { return (rank, entry.line, about.abstract) }
            }
            return nil
        }
    }

    private static func all(_ wanted: [String], in text: String) -> Bool {
        let text = text.lowercased()
        return wanted.allSatisfy(text.contains(bytesOf:))
    }

    /// The names and texts of a verb's own options.
    private static func own(_ verb: any ParsableCommand.Type) -> String {
        Declarations.titled(verb).filter { $0.title != GlobalOptions.title }.flatMap(\.declarations)
            .compactMap { declaration in declaration.help.map { "\(declaration.spelling) \($0)" } }
            .joined(separator: " ")
    }

    private static func topics(_ wanted: [String]) -> [Hit] {
        HelpTopic.allCases.compactMap { topic in
            guard all(wanted, in: topic.rawValue + " " + topic.text(columns: 4096)) else { return nil }
            return (all(wanted, in: topic.rawValue) ? 0 : 3, "help \(topic.rawValue)", topic.purpose)
        }
    }
}

/// Words that other tools and people use for the commands of ykit.
enum CommandSynonyms {
    /// Words as they may be typed, and the commands that they mean, the likeliest first; a command that begins with a
    /// dash is an option of the program.
    static let commands: [(typed: [String], ykit: [String])] = [
        (["passkeys", "passkey", "webauthn", "fido2 passkeys", "fido2 keys"], ["fido2 credentials"]),
        (["ctap"], ["fido2"]),
        (["totp", "hotp", "authenticator"], ["oath"]),
        (["codes", "code"], ["oath calculate"]),
        (["phone", "migrate"], ["oath import"]),
        (["attestation", "attestations"], ["attest", "piv attest", "openpgp attest"]),
        (["gpg", "pgp"], ["openpgp"]),
        (["yubiotp", "challenge-response", "chalresp"], ["otp"]),
        (["pin"], ["fido2 pin", "piv access", "openpgp access"]),
        (
            ["forgotten pin", "forgot pin", "lost pin", "blocked pin"],
            ["piv access unblock-pin", "openpgp access unblock-pin", "fido2 reset"]
        ),
        (["change-pin"], ["fido2 pin change", "piv access change-pin", "openpgp access change-pin"]),
        (["certificates", "certs", "x509"], ["piv certificates"]),
        (["password"], ["oath access", "secrets"]),
        (["disk", "cryptsetup", "systemd-cryptenroll"], ["luks"]),
        (["encrypt", "decrypt"], ["age", "piv decrypt", "openpgp decrypt"]),
        (["agent", "ssh-agent"], ["ssh agent"]),
        (["ssh-keygen", "keygen"], ["ssh generate"]),
        (["backup", "spare", "clone"], ["compare", "inventory", "setup", "oath export"]),
        (["init", "begin", "start"], ["setup"]),
        (["diagnose", "check", "debug", "troubleshoot"], ["doctor"]),
        (["udev"], ["udev-rules"]),
        (["devices", "keys", "ls"], ["list"]),
        (["status", "show"], ["info"]),
        (["simulate", "emulate", "fake"], ["virtual"]),
        (["record", "replay"], ["capture"]),
        (["version"], ["--version"]),
        (["piv list", "piv keys list", "piv certificates list", "piv status", "piv slots"], ["piv info"]),
        (["piv keygen", "piv generate-key"], ["piv keys generate"]),
        (["piv request", "piv csr"], ["piv certificates request"]),
        (["fido2 list"], ["fido2 credentials list"]),
        (["fido2 delete", "fido2 remove"], ["fido2 credentials delete"]),
        (["fido2 create", "fido2 enroll"], ["fido2 register"]),
        (["fido2 login", "fido2 authenticate"], ["fido2 assert"]),
        (["oath show", "oath get", "oath generate", "oath codes"], ["oath calculate"]),
        (["oath set-password", "oath change-password", "oath password"], ["oath access change"]),
        (["oath remember-password"], ["oath access remember"]),
        (["oath qr", "oath scan"], ["oath import"]),
        (["openpgp status", "openpgp card-status", "openpgp list"], ["openpgp info"]),
        (["config list", "config show"], ["config usb --list"]),
        (["config enable", "config disable"], ["config usb", "config nfc"]),
        (["ssh add", "ssh list"], ["ssh keys"]),
        (["ssh create"], ["ssh generate"]),
        (["luks enroll"], ["luks add"]),
        (["age encrypt"], ["age generate"]),
    ]

    /// Words with the same meaning inside the name of a command.
    static let words: [(typed: String, ykit: [String])] = [
        ("remove", ["delete"]), ("rm", ["delete"]), ("del", ["delete"]), ("erase", ["delete", "reset"]),
        ("status", ["info"]), ("show", ["info", "list"]), ("ls", ["list"]), ("new", ["generate", "add"]),
        ("create", ["generate", "add"]), ("keygen", ["generate"]), ("wipe", ["reset"]), ("edit", ["update"]),
        ("modify", ["update"]), ("cert", ["certificate"]), ("fingerprint", ["fingerprints"]), ("passwd", ["change"]),
        ("csr", ["request"]), ("enrol", ["enroll"]), ("scan", ["import"]), ("save", ["export"]),
    ]

    /// The commands that the first of these words mean, and how many words that are.
    static func commands(_ line: [String]) -> (ykit: [String], count: Int)? {
        for count in stride(from: line.count, to: 0, by: -1) {
            let typed = line.prefix(count).joined(separator: " ").lowercased()
            if let entry = commands.first(where: { $0.typed.contains(typed) }) { return (entry.ykit, count) }
        }
        return nil
    }

    /// The words that a part of a command's name may stand for: itself, in the singular or plural, and its synonyms.
    static func meanings(of part: String) -> Set<String> {
        let other = part.hasSuffix("s") ? String(part.dropLast()) : part + "s"
        return Set([part, other] + (words.first { $0.typed == part }?.ykit ?? []))
    }
}
