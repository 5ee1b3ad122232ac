// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
package import TerminalIO
import YKHardware
package import YKInteraction
import YKWire

/// The configuration file: aliases, and words for global options that neither the command line nor a variable gives.
///
/// Its path is `$XDG_CONFIG_HOME/ykit/config`, or the one in YKIT_CONFIG; `YKIT_CONFIG=off` reads no file. Each line
/// has the form `name = value`, where a name is that of a global option without its dashes, or `alias.NAME`.
package struct ConfigurationFile {
    /// A line of the file.
    package struct Entry {
        let name: String
        let value: String
        let line: Int
        /// What the option takes; `nil` for a flag that is off, and for an alias.
        var word: String?
    }

    /// Its path; `nil` if no file is read.
    package private(set) var path: String?
    /// Values of global options.
    private(set) var settings: [Entry] = []
    /// The first words of a command, by alias.
    package private(set) var aliases: [(name: String, words: [String])] = []
    /// The settings that the command line or a variable overrides, with the name of the override.
    private(set) var overridden: [String: String] = [:]

    /// The maximum size of a configuration file.
    private static let limit = 65_536
    private static let aliasPrefix = "alias."

    /// Creates an empty configuration.
    package init() {}

    /// Parses the lines of a file.
    ///
    /// - Throws: a usage error that names the file and the line.
    init(_ bytes: [UInt8], path: String, _ variables: EnvironmentVariables) throws(Explanation) {
        self.path = path
        var seen: [String: Int] = [:]
        let options = Declarations.of(GlobalOptions.self)
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let number = index + 1
            guard let text = String(validating: line, as: UTF8.self)?.trimmed else {
                throw fault(number, "not UTF-8")
            }
            if text.isEmpty || text.hasPrefix("#") { continue }
            var entry = try entry(text, number)
            if let before = seen[entry.name] { throw fault(number, "'\(entry.name)' is already set on line \(before)") }
            seen[entry.name] = number
            if entry.name.hasPrefix(Self.aliasPrefix) {
                aliases.append(try alias(entry))
            } else {
                let option = try option(entry, among: options)
                entry.word = try word(entry, for: option, home: variables["HOME"])
                try give(entry, to: option)
                settings.append(entry)
            }
        }
    }

    /// The words that an alias expands to.
    package subscript(alias name: String) -> [String]? { aliases.first { $0.name == name }?.words }

    // MARK: - lines

    private func entry(_ text: String, _ line: Int) throws(Explanation) -> Entry {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw fault(line, "expected name = value") }
        let (name, value) = (String(parts[0]).trimmed, String(parts[1]).trimmed)
        guard !value.isEmpty else { throw fault(line, "'\(name.printable)' has no value") }
        guard value == value.printable else { throw fault(line, "the value has a control character") }
        return Entry(name: name, value: value, line: line)
    }

    private func alias(_ entry: Entry) throws(Explanation) -> (name: String, words: [String]) {
        let name = String(entry.name.dropFirst(Self.aliasPrefix.count))
        let isWord = name.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isWord, !name.isEmpty, !name.hasPrefix("-") else {
            throw fault(entry.line, "'\(name.printable)' is not a valid alias: use letters, digits, '-' and '_'")
        }
        guard name != "help", Program.root.about.subcommand(name) == nil else {
            throw fault(entry.line, "'\(name)' is a command of ykit and cannot be an alias")
        }
        guard let words = ShellWords.complete(entry.value) else {
            throw fault(entry.line, "unclosed quotation mark")
        }
        guard let line = try? CommandLineParser.ykit().walk(words), !line.path.isEmpty, !line.isHelpWord
        else {
            throw fault(entry.line, "alias '\(name)' does not begin with a command of ykit")
        }
        return (name, words)
    }

    /// The option that an entry names.
    private func option(_ entry: Entry, among options: [Declaration]) throws(Explanation) -> Declaration {
        if let option = options.first(where: { $0.name == entry.name }) { return option }
        let nearest = Spelling.nearest(entry.name, among: options.map(\.name))
        throw fault(
            entry.line, "unknown name '\(entry.name.printable)'" + (nearest.map { "; did you mean '\($0)'?" } ?? ""))
    }

    /// The word that the option takes: a flag is yes or no, and the path of a file begins with `/` or `~/`.
    private func word(_ entry: Entry, for option: Declaration, home: String?) throws(Explanation) -> String? {
        let value = entry.value
        guard option.takesValue else {
            if ["yes", "true", "on"].contains(value) { return Names.yes }
            if ["no", "false", "off"].contains(value) { return nil }
            throw invalid(entry, "expected yes or no")
        }
        guard option.isFile, !value.hasPrefix("/"), value != option.omitted?.standIn else { return value }
        guard value.hasPrefix("~/"), let home, home.hasPrefix("/") else {
            throw invalid(entry, "expected a path that begins with / or ~/")
        }
        return home + value.dropFirst()
    }

    /// Gives an option the word of an entry.
    private func give(_ entry: Entry, to option: Declaration) throws(Explanation) {
        guard let word = entry.word, let objection = option.objection(to: word, from: .file) else { return }
        throw invalid(entry, objection)
    }

    private func invalid(_ entry: Entry, _ objection: String) -> Explanation {
        fault(entry.line, "'\(entry.name)' is '\(entry.value)', \(objection)")
    }

    private func fault(_ line: Int, _ what: String) -> Explanation {
        Explanation(
            "configuration", .usage, "\((path ?? "").printable):\(line): \(what)",
            hint: "'ykit help config' explains the file; set YKIT_CONFIG=off to ignore it")
    }

    // MARK: - options

    /// Gives the options that the line leaves open the value of their variable, or else the word of the file. An option
    /// that has no effect on the verb takes neither.
    ///
    /// The options that select a key are overridden together: with `--virtual` on the line, a serial number in the file is
    /// ignored.
    mutating func complete(_ line: GivenVerb, _ variables: EnvironmentVariables) throws(Explanation) {
        let (verb, options) = (type(of: line.verb), line.declarations.all)
        var winners: [String: String] = [:]
        for option in options {
            if option.isGiven { winners[option.name] = "--" + option.name }
            guard !option.isGiven, let variable = option.variable, let text = variables[variable.name] else { continue }
            winners[option.name] = variable.name
            guard variable.isValue, verb.uses.has(option.name) else { continue }
            if let objection = option.objection(to: text, from: .variable) {
                throw .usage("\(variable.name) is '\(text.printable)', \(objection)")
            }
        }
        let choice = options.first { GlobalOptions.choices.contains($0.name) && winners[$0.name] != nil }
        var companions: [(Entry, Declaration)] = []
        for entry in settings {
            let option = try option(entry, among: options)
            let isChoice = GlobalOptions.choices.contains(entry.name)
            overridden[entry.name] = winners[entry.name] ?? (isChoice ? choice.flatMap { winners[$0.name] } : nil)
            if overridden[entry.name] != nil || !verb.uses.has(entry.name) { continue }
            if verb.hasOwnOutput, ["json", "plan"].contains(entry.name) { continue }
            if GlobalOptions.needed(for: entry.name) == nil {
                try give(entry, to: option)
            } else {
                companions.append((entry, option))
            }
        }
        for (entry, option) in companions {
            let needed = GlobalOptions.needed(for: entry.name)
            if options.contains(where: { $0.name == needed && $0.isGiven }) { try give(entry, to: option) }
        }
    }

    /// Reads the file.
    ///
    /// - Throws: a usage error if other users may change the file, it cannot be read, or it has a mistake.
    package static func read(_ variables: EnvironmentVariables) throws(Explanation) -> ConfigurationFile {
        let named = variables["YKIT_CONFIG"]
        guard named != "off", let path = named ?? UserFolder.config.path({ variables[$0] }).map({ $0 + "/config" })
        else { return ConfigurationFile() }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if named == nil, errno == ENOENT || errno == ENOTDIR { return ConfigurationFile() }
            throw refused(path, System.failure)
        }
        defer { close(descriptor) }
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw refused(path, System.failure) }
        guard info.st_mode & S_IFMT == S_IFREG else { throw refused(path, "it is not a regular file") }
        guard info.st_uid == getuid() || info.st_uid == 0 else { throw refused(path, "it belongs to another user") }
        guard info.st_mode & 0o022 == 0 else {
            throw refused(path, "other users can change it", hint: "chmod go-w \(path.printable)")
        }
        guard info.st_size <= limit else { throw refused(path, "it is larger than \(limit >> 10) KiB") }
        return try ConfigurationFile(try Files.read(descriptor: descriptor, path), path: path, variables)
    }

    private static func refused(_ path: String, _ why: String, hint: String? = nil) -> Explanation {
        Explanation(
            "configuration", .usage, "cannot use the configuration file \(path.printable): \(why)",
            hint: hint ?? "set YKIT_CONFIG=off to ignore it")
    }

    /// Summarizes the settings in a few words.
    ///
    /// - Parameter showsValues: Whether to include values, which may identify the machine's owner.
    package func summary(showsValues: Bool) -> String {
        let inForce = settings.filter { overridden[$0.name] == nil }.map { entry in
            showsValues ? "\(entry.name) = \(entry.value)" : entry.name
        }
        let others = settings.compactMap { entry in
            overridden[entry.name].map { "\(entry.name), which \($0) overrides" }
        }
        let names = aliases.isEmpty ? [] : ["aliases: " + aliases.map(\.name).listed()]
        let all = inForce + others + names
        return all.isEmpty ? "nothing" : all.joined(separator: "; ")
    }
}

extension Declaration {
    /// Whether the value is a file.
    fileprivate var isFile: Bool {
        switch choices.completion {
        case .file, .input: takesValue
        default: false
        }
    }

    /// Takes a word that is not on the line; returns what is wrong with it, as `expected yes or no`.
    fileprivate func objection(to word: String, from origin: Origin) -> String? {
        do {
            if try take(word, from: origin) { return nil }
        } catch { return (error as? UsageError)?.description ?? "\(error)" }
        let all = choices.allowed
        if all.isEmpty { return "expected the number of an open file descriptor" }
        return "expected \(all.dropLast().joined(separator: ", ")) or \(all[all.count - 1])"
    }
}
