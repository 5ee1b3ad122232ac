// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
import YKWire

extension Program {
    /// Whether all arguments are valid UTF-8; others would be misread.
    static var isReadable: Bool {
        (0..<Int(CommandLine.argc)).allSatisfy { index in
            CommandLine.unsafeArgv[index].map { String(validatingCString: $0) != nil } ?? true
        }
    }

    /// Parses the command line, runs the verb and prints its answer.
    static func run(_ arguments: [String]) async -> ExitStatus {
        if arguments.first == CompletionAnswer.word {
            Terminal.write(
                Array(CompletionAnswer.lines(Array(arguments.dropFirst())).map { $0 + "\n" }.joined().utf8), to: 1)
            return .done
        }
        let terminal = Terminal()
        var line = arguments
        do {
            line = try rewritten(arguments)
            // 'config help' means the group, 'help config' the file.
            let isTopic = arguments.first { !ArgumentRewriting.isGlobal($0) } == "help"
            let arguments = line
            let isQuick = Variables["YKIT_PARSER"] != "whole"
            if isQuick, let read = LineReader.verb(arguments, from: Ykit.self) {
                return ExitStatus(rawValue: await read.carryOut()) ?? .failed
            }
            if let text = help(arguments, isTopic: isTopic, terminal.helpColumns) {
                terminal.line(text)
                return .done
            }
            if let unknown = Explain.unknownCommand(arguments, from: Ykit.self) { throw unknown }
            line = Explain.joiningNegativeNumbers(arguments, from: Ykit.self)
            // Base64url may begin with a dash and look like '-h', so such words are masked when usage errors are
            // explained.
            let plain = line.map { LineReader.isBytes($0) ? "x" + $0 : $0 }
            if plain != line { _ = try WholeParser.verb(plain, from: Ykit.self, columns: terminal.helpColumns) }
            if let wrong = Explain.strayDash(line, from: Ykit.self) { throw wrong }
            let read = try WholeParser.verb(line, from: Ykit.self, columns: terminal.helpColumns)
            return ExitStatus(rawValue: await read.carryOut()) ?? .failed
        } catch {
            return refused(error, line, terminal)
        }
    }

    /// Moves the global options to the end, and expands an alias from the configuration file.
    private static func rewritten(_ arguments: [String]) throws(Explanation) -> [String] {
        func alias(_ word: String) throws(Explanation) -> [String]? { try ConfigurationFile.read()[alias: word] }
        let rewriting = ArgumentRewriting(
            isGroup: { word in
                if word == "help" || Ykit.about.subcommand(word) != nil { return true }
                return ((try? alias(word)) ?? nil) != nil
            },
            exists: { access($0, F_OK) == 0 })
        return try rewriting.rewrite(arguments, groups: Ykit.self, alias: alias)
    }

    /// Returns the text for `ykit` alone, or for `ykit help` and a topic; `nil` for anything else.
    private static func help(_ line: [String], isTopic: Bool, _ columns: Int) -> String? {
        if line.isEmpty || line == ["help"] || line == ["--help"] || line == ["-h"] { return FirstScreen.text }
        guard isTopic, line.count == 2, line[0] == "help" else { return nil }
        return HelpTopic(rawValue: line[1])?.text(columns: columns)
    }

    /// Runs a verb and prints its answer.
    static func run(_ given: GivenVerb) async -> ExitStatus {
        let verb = given.verb
        var global = given.global
        let plain = Terminal()
        var configuration = ConfigurationFile()
        do {
            configuration = try configured(verb, &global)
        } catch {
            let explanation = (error as? UsageError).map { .usage($0.description) } ?? Explain.explain(error)
            report(explanation, type(of: verb).about.members, global.json, plain)
            return explanation.exit
        }
        let isJSON = global.json
        let terminal = plain.set(by: global)
        if isJSON {
            ComputationEnd.say(failure(Explain.interrupted, type(of: verb).about.members, []) + "\n", to: 1)
        }
        do {
            SecretInput.warnOfExposed(given.declarations, terminal)
            let world = try World(global, terminal, uses: type(of: verb).uses)
            world.configuration = configuration
            var answer = try await world.answer(of: verb)
            if global.strict { answer.failure = answer.failure ?? strict(terminal.warnings + answer.warnings) }
            if !isJSON { answer.withholdBytes(from: terminal) }
            print(answer, type(of: verb).about.members, isJSON, terminal)
            return answer.failure?.exit ?? .done
        } catch {
            let isCancelled = Interruption.happened
            let explanation = isCancelled ? Explain.interrupted : Explain.explain(error)
            report(explanation, type(of: verb).about.members, isJSON, terminal)
            return explanation.exit
        }
    }

    /// Adds the configuration file to the options of a verb. The doctor accepts an unusable file and reports the
    /// problem.
    private static func configured(
        _ verb: any Verb, _ global: inout GlobalOptions
    ) throws -> ConfigurationFile {
        var configuration: ConfigurationFile
        do { configuration = try .read() } catch {
            guard verb is Doctor else { throw error }
            return ConfigurationFile()
        }
        guard !configuration.settings.isEmpty else { return configuration }
        let given = global
        try configuration.complete(&global)
        type(of: verb).uses.reduce(&global)
        if verb is AgePluginVerb { (global.json, global.plan) = (given.json, given.plan) }
        try verb.check(with: global)
        return configuration
    }

    /// The `--strict` failure of a verb that succeeded with warnings.
    private static func strict(_ warnings: [String]) -> Explanation? {
        guard let first = warnings.first else { return nil }
        return Explanation(
            "strict", .policy, "done, but with a warning, which --strict does not allow: \(first)",
            hint: "without --strict this is a warning")
    }

    /// Prints an answer: one object with all members of the verb, or lines.
    static func print(_ answer: Answer, _ members: [String], _ isJSON: Bool, _ terminal: Terminal) {
        guard isJSON else {
            answer.warnings.forEach(terminal.warn)
            Terminal.write(answer.raw ?? terminal.bytes(of: answer.lines), to: 1, isMadeOnce: answer.isMadeOnce)
            if let failure = answer.failure { terminal.fail(failure) }
            return
        }
        var object = envelope(error: answer.failure, warnings: terminal.noted + answer.warnings)
        for key in members { object[key] = answer.members[key] ?? .null }
        for member in answer.members.members { object[member.key] = member.value }
        Terminal.write(
            terminal.bytes(of: [JSONValue.object(object).text]), to: 1, isMadeOnce: answer.isMadeOnce,
            telling: answer.failure)
    }

    /// Prints a failure: the same object with `ok` false, or lines on standard error.
    static func report(_ explanation: Explanation, _ members: [String], _ isJSON: Bool, _ terminal: Terminal) {
        guard isJSON else { return terminal.fail(explanation) }
        let text = failure(explanation, members, terminal.noted)
        Terminal.write(terminal.bytes(of: [text]), to: 1, telling: explanation)
    }

    /// The answer of a verb that failed, with all of its members.
    private static func failure(_ explanation: Explanation, _ members: [String], _ warnings: [String]) -> String {
        var object = envelope(error: explanation, warnings: warnings)
        for key in members { object[key] = .null }
        return JSONValue.object(object).text
    }

    private static func envelope(error: Explanation?, warnings: [String]) -> JSONValue.Object {
        var object = JSONValue.Object()
        object["ok"] = .bool(error == nil)
        object["error"] = error?.json ?? .null
        object["warnings"] = .array(warnings.map(JSONValue.string))
        return object
    }

    /// Prints help and the version to standard output; an invalid line is a usage error.
    private static func refused(_ error: any Error, _ line: [String], _ terminal: Terminal) -> ExitStatus {
        let explanation: Explanation
        switch error {
        case WholeParser.Refusal.help(let text):
            terminal.line(HelpText.arranged(text, columns: terminal.helpColumns))
            return .done
        case WholeParser.Refusal.wrong(let message):
            explanation = Explain.unknownOption(line, from: Ykit.self) ?? Explain.usage(message, of: line)
        default: explanation = Explain.explain(error)
        }
        report(explanation, [], line.contains("--json"), terminal)
        return explanation.exit
    }
}

extension String {
    /// Lower case at the start, no full stop at the end.
    var asSentencePart: String {
        let text = hasSuffix(".") ? String(dropLast()) : self
        guard let first = text.first, text.dropFirst().first?.isUppercase != true else { return text }
        return first.lowercased() + text.dropFirst()
    }
}
