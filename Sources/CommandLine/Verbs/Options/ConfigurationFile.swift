// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
package import TerminalIO
import YKHardware
import YKWire

/// The configuration file: aliases, and values for global options that neither the command line nor a variable sets.
///
/// Its path is `$XDG_CONFIG_HOME/ykit/config`, or the one in YKIT_CONFIG; `YKIT_CONFIG=off` reads no file. Each line
/// has the form `name = value`, where a name is that of a global option without its dashes, or `alias.NAME`.
package struct ConfigurationFile {
    /// A line of the file.
    package struct Entry: Equatable {
        package let name: String
        package let value: String
        package let line: Int
    }

    /// Its path; `nil` if no file is read.
    package private(set) var path: String?
    /// Values of global options.
    package private(set) var settings: [Entry] = []
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
    package init(_ bytes: [UInt8], path: String) throws(Explanation) {
        self.path = path
        var seen: [String: Int] = [:]
        var scratch: GlobalOptions?
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let number = index + 1
            guard let text = String(validating: line, as: UTF8.self)?.trimmed else {
                throw fault(number, "not UTF-8")
            }
            if text.isEmpty || text.hasPrefix("#") { continue }
            let entry = try entry(text, number)
            if let before = seen[entry.name] { throw fault(number, "'\(entry.name)' is already set on line \(before)") }
            seen[entry.name] = number
            if entry.name.hasPrefix(Self.aliasPrefix) {
                aliases.append(try alias(entry))
            } else {
                var options = scratch ?? GlobalOptions()
                try set(entry, in: &options)
                scratch = options
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

    /// Sets the option that an entry names.
    private func set(_ entry: Entry, in options: inout GlobalOptions) throws(Explanation) {
        guard let known = ConfigurableOption.all.first(where: { $0.name == entry.name }) else {
            let nearest = Spelling.nearest(entry.name, among: ConfigurableOption.all.map(\.name))
            throw fault(
                entry.line,
                "unknown name '\(entry.name.printable)'" + (nearest.map { "; did you mean '\($0)'?" } ?? ""))
        }
        if let expected = known.set(&options, entry.value) {
            throw fault(entry.line, "'\(entry.name)' is '\(entry.value)', expected \(expected)")
        }
    }

    private func fault(_ line: Int, _ what: String) -> Explanation {
        Explanation(
            "configuration", .usage, "\((path ?? "").printable):\(line): \(what)",
            hint: "'ykit help config' explains the file; set YKIT_CONFIG=off to ignore it")
    }

    // MARK: - options

    /// Sets the options that neither the command line nor a variable sets.
    ///
    /// The options that select a key are overridden together: with `--virtual` on the line, a serial number in the file is
    /// ignored.
    package mutating func complete(
        _ options: inout GlobalOptions, variable: (String) -> String? = { Variables[$0] }
    ) throws(Explanation) {
        func origin(_ option: ConfigurableOption, _ options: GlobalOptions) -> String? {
            if option.isSet(options) { return "--\(option.name)" }
            return option.variables.first { !(variable($0) ?? "").isEmpty }
        }
        let line = options
        let known = ConfigurableOption.all
        let choice = known.filter(\.choosesKey).compactMap { origin($0, line) }.first
        for entry in settings {
            guard let option = known.first(where: { $0.name == entry.name }) else { continue }
            if let winner = origin(option, line) ?? (option.choosesKey ? choice : nil) {
                overridden[entry.name] = winner
            } else {
                try set(entry, in: &options)
            }
        }
        dropUnused(&options, besides: line, usesChannel: !(variable("YKIT_SCP") ?? "").isEmpty)
    }

    /// Removes settings that only apply to an unused option and would be refused on the command line.
    private func dropUnused(_ options: inout GlobalOptions, besides line: GlobalOptions, usesChannel: Bool) {
        if options.replay == nil { options.replayMode = line.replayMode }
        if options.record == nil { options.keepSecrets = line.keepSecrets }
        guard options.channel.scp == nil, !usesChannel else { return }
        options.channel = line.channel
    }
}

extension ConfigurationFile {
    /// The file, which is read once.
    ///
    /// - Throws: a usage error if other users may change the file, it cannot be read, or it has a mistake.
    package static func read() throws(Explanation) -> ConfigurationFile { try once.get() }

    private static let once = Result { () throws(Explanation) in try readFile() }

    private static func readFile() throws(Explanation) -> ConfigurationFile {
        let named = Variables["YKIT_CONFIG"]
        guard named != "off", let path = named ?? usualPath else { return ConfigurationFile() }
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
        return try ConfigurationFile(try Files.read(descriptor: descriptor, path), path: path)
    }

    private static func refused(_ path: String, _ why: String, hint: String? = nil) -> Explanation {
        Explanation(
            "configuration", .usage, "cannot use the configuration file \(path.printable): \(why)",
            hint: hint ?? "set YKIT_CONFIG=off to ignore it")
    }

    /// `$XDG_CONFIG_HOME/ykit/config`; if the variable is not set, below `~/.config`.
    static var usualPath: String? { UserFolder.config.path { Variables[$0] }.map { $0 + "/config" } }

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

/// A global option that the configuration file can set.
package struct ConfigurableOption {
    /// Its name without the dashes.
    package let name: String
    /// The variables that override the file.
    package let variables: [String]
    /// Whether it selects a key.
    let choosesKey: Bool
    /// Whether the command line sets it.
    package let isSet: (GlobalOptions) -> Bool
    /// Sets it to a value; returns the expected form if the value is invalid.
    package let set: (inout GlobalOptions, String) -> String?

    private init<Value>(
        _ name: String, _ path: WritableKeyPath<GlobalOptions, Value?>, _ variables: [String] = [],
        expected: String, choosesKey: Bool = false, read: @escaping (String) -> Value?
    ) {
        self.name = name
        self.variables = variables
        self.choosesKey = choosesKey
        isSet = { $0[keyPath: path] != nil }
        set = { options, text in
            guard let value = read(text) else { return expected }
            options[keyPath: path] = value
            return nil
        }
    }

    /// A flag, with the value yes or no.
    private init(_ name: String, _ path: WritableKeyPath<GlobalOptions, Bool>, _ variables: [String] = []) {
        self.name = name
        self.variables = variables
        choosesKey = false
        isSet = { $0[keyPath: path] }
        set = { options, text in
            switch text {
            case "yes", "true", "on": options[keyPath: path] = true
            case "no", "false", "off": options[keyPath: path] = false
            default: return "yes or no"
            }
            return nil
        }
    }

    private static func text(
        _ name: String, _ path: WritableKeyPath<GlobalOptions, String?>, _ variables: [String] = [],
        choosesKey: Bool = false
    ) -> Self {
        Self(name, path, variables, expected: "a text", choosesKey: choosesKey, read: { $0 })
    }

    /// A file, whose path must be absolute or begin with `~`.
    private static func file(
        _ name: String, _ path: WritableKeyPath<GlobalOptions, String?>, _ variables: [String] = [],
        isInMemory: Bool = false, choosesKey: Bool = false
    ) -> Self {
        Self(name, path, variables, expected: "a path that begins with / or ~/", choosesKey: choosesKey) { text in
            if text.hasPrefix("/") || isInMemory && text == GlobalOptions.inMemory { return text }
            guard text.hasPrefix("~/"), let home = Variables["HOME"], home.hasPrefix("/") else { return nil }
            return home + text.dropFirst()
        }
    }

    private static func word<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ path: WritableKeyPath<GlobalOptions, Value?>, _ variables: [String] = []
    ) -> Self {
        Self(
            name, path, variables, expected: Value.allCases.map { $0.rawValue }.joined(separator: " or "),
            read: { Value(rawValue: $0) })
    }

    /// All configurable options.
    package static var all: [ConfigurableOption] {
        [
            .text("device", \.device, ["YKIT_DEVICE"], choosesKey: true),
            .text("reader", \.reader, ["YKIT_READER"], choosesKey: true),
            .text("path", \.path, ["YKIT_PATH"], choosesKey: true),
            .file("virtual", \.virtual, isInMemory: true, choosesKey: true),
            .file("replay", \.replay, choosesKey: true),
            .word("replay-mode", \.replayMode),
            .word("link", \.link, ["YKIT_LINK"]),
            Self("timeout", \.timeout, ["YKIT_TIMEOUT"], expected: "a number of seconds up to 86400") { text in
                Double(text).flatMap { $0 > 0 && $0 <= 86_400 ? $0 : nil }
            },
            Self("json", \.json), Self("strict", \.strict), Self("plan", \.plan), Self("quiet", \.quiet),
            .word("color", \.color),
            Self("notify", \.notify, ["YKIT_NOTIFY"]),
            .file("record", \.record), Self("keep-secrets", \.keepSecrets),
            .word("log-level", \.logLevel), .file("log-file", \.logFile),
            Self(
                "scp", \.channel.scp, ["YKIT_SCP"],
                expected: "03, 11a, 11b or 11c, optionally with a version, as in 03,1"
            ) {
                SCPChoice(argument: $0)
            },
            .file("scp-keys", \.channel.scpKeys, ["YKIT_SCP_KEYS"]),
            Self("scp-keys-fd", \.channel.scpKeysFd, expected: "the number of a descriptor") { Int32($0) },
            .file("scp-ca", \.channel.scpCa, ["YKIT_SCP_CA"]),
            .file("scp-card-key", \.channel.scpCardKey, ["YKIT_SCP_CARD_KEY"]),
            .file("scp-oce", \.channel.scpOce, ["YKIT_SCP_OCE"]),
            Self("scp-oce-ca", \.channel.scpOceCa, expected: "a key, as in ca,3") { SCPKeyArgument(argument: $0) },
            Self(
                "scp-password-fd", \.channel.scpPasswordFd, ["YKIT_SCP_PASSWORD"],
                expected: "the number of a descriptor"
            ) {
                Int32($0)
            },
        ]
    }
}
