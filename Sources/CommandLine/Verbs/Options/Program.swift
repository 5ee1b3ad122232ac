// SPDX-License-Identifier: Apache-2.0

package import Arguments
import Glibc
package import TerminalIO
package import YKInteraction
package import YKKeys
import YKTransport
import YKWire

extension Program {
    /// Parses the command line, runs the verb and prints its answer.
    ///
    /// - Parameters:
    ///   - stage: What the run has around it.
    ///   - source: Where keys come from; by default what the options say.
    package static func run(
        _ arguments: [String], on stage: Stage = .live, source: KeyRing.Source? = nil
    ) async -> ExitStatus {
        let terminal = Terminal(stage)
        if arguments.first == CompletionAnswer.word {
            let names = RememberedNames.read(stage.variables)
            let aliases = (try? ConfigurationFile.read(stage.variables))?.aliases ?? []
            terminal.out(
                CompletionAnswer.lines(Array(arguments.dropFirst()), names, aliases: aliases).map { $0 + "\n" }.joined()
            )
            return .done
        }
        do {
            let parser = CommandLineParser.ykit { word throws in
                try ConfigurationFile.read(stage.variables)[alias: word]
            }
            let line = try parser.walk(arguments)
            if line.isTopic, let topic = line.commandWords.first.flatMap(HelpTopic.init) {
                terminal.line(topic.text(columns: terminal.helpColumns))
                return .done
            }
            switch try parser.request(line) {
            case .verb(let read):
                guard let given = read.given else { return .usage }
                return await run(given, stage, source: source)
            case .search(let words): terminal.line(try CommandSearch.text(words, columns: terminal.helpColumns))
            case .help: terminal.line(HelpPage.text(of: line, columns: terminal.helpColumns))
            case .version: terminal.line("ykit \(Program.version)")
            }
            return .done
        } catch {
            let explanation = Explanation(error)
            let verb = (error as? ParseError)?.line.command as? any VerbCommand.Type
            let isJSON = arguments.prefix { $0 != "--" }.contains("--json")
            report(explanation, verb?.verb, isJSON, terminal)
            return explanation.exit
        }
    }

    /// Runs a line on the key of another verb, and prints its answer.
    package static func run(_ words: [String], on keys: KeyRing, _ stage: Stage) async -> ExitStatus {
        do {
            let parser = CommandLineParser.ykit()
            guard case .verb(let read) = try parser.request(try parser.walk(words)), let given = read.given
            else { return .usage }
            return await run(given, stage, source: keys.source)
        } catch {
            let explanation = Explanation(error)
            report(explanation, nil, false, Terminal(stage))
            return explanation.exit
        }
    }

    /// Runs a verb and prints its answer.
    ///
    /// - Parameter source: Where keys come from, for a verb that another one runs.
    package static func run(
        _ given: GivenVerb, _ stage: Stage, source: KeyRing.Source? = nil
    ) async -> ExitStatus {
        let verb = given.verb
        let global = given.global
        let plain = Terminal(stage)
        var configuration = ConfigurationFile()
        do {
            configuration = try configured(given, stage.variables)
            try StandardInput.check(given.declarations.all, readsLines: type(of: verb).readsLines)
        } catch {
            let explanation = (error as? UsageError).map { .usage($0.description) } ?? Explanation(error)
            report(explanation, type(of: verb), global.json, plain)
            return explanation.exit
        }
        let isJSON = global.json
        let terminal = plain.set(color: global.color, isJSON: isJSON, isQuiet: global.quiet)
        if isJSON {
            ComputationEnd.say(failure(Explanation.interrupted, type(of: verb), []) + "\n", to: 1)
        }
        do {
            SecretInput.warnOfExposed(given.declarations, terminal)
            let run = try Run(global, terminal, uses: type(of: verb).uses, source: source)
            run.configuration = configuration
            var answer = try await run.answer(of: verb)
            if global.strict {
                answer.failure = answer.failure ?? strict(terminal.warnings + answer.warnings.map(\.message))
            }
            if !isJSON { answer.withholdBytes(from: terminal) }
            print(answer, type(of: verb), isJSON, terminal)
            return answer.failure?.exit ?? .done
        } catch {
            let isCancelled = stage.environment.cancellation.isCancelled
            let explanation = isCancelled ? Explanation.interrupted : Explanation(error)
            report(explanation, type(of: verb), isJSON, terminal)
            return explanation.exit
        }
    }

    /// Adds variables and the configuration file to the options of a verb.
    private static func configured(
        _ given: GivenVerb, _ variables: EnvironmentVariables
    ) throws -> ConfigurationFile {
        var configuration = ConfigurationFile()
        do throws(Explanation) { configuration = try .read(variables) } catch {
            if type(of: given.verb).needsConfiguration { throw error }
        }
        try configuration.complete(given, variables)
        try given.verb.check(with: given.global)
        return configuration
    }

    /// The `--strict` failure of a verb that succeeded with warnings.
    private static func strict(_ warnings: [String]) -> Explanation? {
        guard let first = warnings.first else { return nil }
        return Explanation(
            "strict", .policy, "completed with a warning, which --strict treats as an error: \(first)",
            hint: "without --strict this is a warning")
    }

    /// Prints an answer: one object with all members of the verb, or lines.
    private static func print(_ answer: Answer, _ verb: any Verb.Type, _ isJSON: Bool, _ terminal: Terminal) {
        guard isJSON else {
            answer.warnings.forEach(terminal.warn)
            terminal.write(answer.raw ?? terminal.bytes(of: answer.lines), isMadeOnce: answer.isMadeOnce)
            if let failure = answer.failure { terminal.fail(failure) }
            return
        }
        var object = envelope(error: answer.failure, warnings: terminal.noted + answer.warnings)
        let given = answer.members
        for form in verb.members { object[form.name] = given[form.name] ?? .null }
        for member in given.members { object[member.key] = member.value }
        terminal.write(
            terminal.bytes(of: [JSONValue.object(object).text]), isMadeOnce: answer.isMadeOnce,
            telling: answer.failure)
    }

    /// Prints a failure, of the verb if it is known: the same object with `ok` false, or lines on standard error.
    private static func report(
        _ explanation: Explanation, _ verb: (any Verb.Type)?, _ isJSON: Bool, _ terminal: Terminal
    ) {
        guard isJSON else { return terminal.fail(explanation) }
        let text = failure(explanation, verb, terminal.noted)
        terminal.write(terminal.bytes(of: [text]), telling: explanation)
    }

    /// The answer of a verb that failed, with all of its members.
    private static func failure(_ explanation: Explanation, _ verb: (any Verb.Type)?, _ warnings: [Warning]) -> String {
        var object = envelope(error: explanation, warnings: warnings)
        for form in verb?.members ?? [] { object[form.name] = .null }
        return JSONValue.object(object).text
    }

    static func envelope(error: Explanation?, warnings: [Warning]) -> JSONValue.Object {
        var object = JSONValue.Object()
        object["ok"] = .bool(error == nil)
        object["error"] = error?.json ?? .null
        object["warnings"] = .array(warnings.map(\.json))
        return object
    }
}

extension CommandLineParser {
    /// The command line of ykit.
    package static func ykit(alias: @escaping (String) throws -> [String]? = { _ in nil }) -> CommandLineParser {
        CommandLineParser(root: Program.root, global: GlobalOptions.self, alias: alias) { access($0, F_OK) == 0 }
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
