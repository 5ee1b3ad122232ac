// SPDX-License-Identifier: Apache-2.0

import Arguments
import Foundation
import Testing

@testable import ykit

/// Compares both readings of every line that the scripts and verbs.txt run.
@Suite struct ReadingTests {
    /// The distinct calls of ykit, with the words that its arguments are.
    private static func calls() throws -> Set<[String]> {
        var calls: Set<[String]> = []
        for name in ScriptTests.names {
            let text = try String(contentsOf: ScriptTests.folder.appendingPathComponent(name), encoding: .utf8)
            for step in Script(name: name, text: text).steps {
                calls.formUnion(ShellCalls(of: "ykit", in: step.command).calls)
            }
        }
        for line in try VerbTests.lines() {
            let words = ["--virtual", "key.json", "--json"]
            calls.formUnion(ShellCalls(of: "y", in: line.command).calls.map { words + $0 })
        }
        return calls
    }

    /// The arguments as the program arranges them before they are read.
    private static func arranged(_ call: [String]) throws -> [String] {
        let rewriting = ArgumentRewriting(
            isGroup: { $0 == "help" || Ykit.about.subcommand($0) != nil }, exists: { $0.hasSuffix(".json") })
        return try rewriting.rewrite(call, groups: Ykit.self)
    }

    /// The verb that the first words name, and the words after it.
    private static func verb(_ line: [String]) -> (type: any VerbCommand.Type, rest: [String])? {
        var (command, rest): (any ParsableCommand.Type, _) = (Ykit.self, line[...])
        while !command.isVerb {
            guard let next = rest.popFirst().flatMap({ command.about.subcommand($0) }) else { return nil }
            command = next
        }
        return (command as? any VerbCommand.Type).map { ($0, Array(rest)) }
    }

    /// The words of a verb's own options and arguments, and those of the global options.
    private static func split(_ words: [String]) -> (own: [String], global: [String]) {
        var (own, global, rest) = ([String](), [String](), words[...])
        while let word = rest.popFirst() {
            guard word != "--" else { return (own + [word] + rest, global) }
            guard ArgumentRewriting.isGlobal(word) else {
                own.append(word)
                continue
            }
            global.append(word)
            if ArgumentRewriting.valued.contains(word), let value = rest.popFirst() { global.append(value) }
        }
        return (own, global)
    }

    /// What ArgumentParser reads. It takes no argument with a dash at its beginning, such as bytes in base64url, unless
    /// it stands behind `--`.
    private static func whole(_ words: [String], of type: any ParsableCommand.Type) throws -> [String] {
        do { return LineReaderTests.values(try WholeParser.verb(words, from: type, columns: 80)) } catch {
            guard words.contains(where: LineReader.isBytes) else { throw error }
            func isBehind(_ word: String) -> Bool { LineReader.isBytes(word) || word == "-" }
            let behind = words.filter { !isBehind($0) } + ["--"] + words.filter(isBehind)
            return LineReaderTests.values(try WholeParser.verb(behind, from: type, columns: 80))
        }
    }

    /// ArgumentParser takes 50 ms a line by `Run` of a verb in a program that is not optimized, so it reads a verb's own
    /// words, and the global ones, each once, by the types that `Run` is made of.
    @Test func bothReadingsOfEveryLineAgree() throws {
        let lines = Set(try Self.calls().map(Self.arranged))
        var (read, verbs, known) = (0, Set<String>(), [[String]: [String]]())
        func values(_ words: [String], of type: any ParsableCommand.Type) throws -> [String] {
            let key = ["\(type)"] + words
            if let values = known[key] { return values }
            let values = try Self.whole(words, of: type)
            known[key] = values
            return values
        }
        for line in lines {
            guard let quick = LineReader.verb(line, from: Ykit.self), let (type, rest) = Self.verb(line) else {
                continue
            }
            let (own, global) = Self.split(rest)
            let whole = try values(own, of: type.verb.alone) + values(global, of: Alone<GlobalOptions>.self)
            #expect(LineReaderTests.values(quick) == whole, "\(line)")
            read += 1
            verbs.insert("\(type)")
        }
        #expect(
            read > 900 && verbs.count > 200, "\(read) of \(lines.count) lines of \(verbs.count) verbs were compared")
    }

    @Test(arguments: [
        ("ykit list", [["list"]]),
        (
            "A=1 ykit oath add 'a b' \"c $d\" --at 5 2>/dev/null | grep x; ykit list",
            [["oath", "add", "a b", "c $d", "--at", "5"], ["list"]]
        ),
        ("printf 'ykit no' > f && env -u HOME ykit info --json < f >&2", [["info", "--json"]]),
        (
            "x=$(ykit list | head -1); ykit apdu \"$(ykit info)\" e\\ f # ykit no",
            [["list"], ["info"], ["apdu", "$(…)", "e f"]]
        ),
        ("(cd a; ykit list 3<pin) & ykit info", [["list"], ["info"]]),
    ])
    func callsInALineOfShell(_ line: String, _ expected: [[String]]) {
        #expect(ShellCalls(of: "ykit", in: line).calls == expected)
    }
}

/// Options as a command of their own, without a group around them: in a program that is not optimized, ArgumentParser
/// checks each group four times for each time that it checks what the group is in.
private struct Alone<Given: ParsableArguments>: ParsableCommand {
    static var about: About { About("alone", "Options alone.") }
    static var isVerb: Bool { true }

    let given: Given

    init() { given = Given() }

    func check() throws { try given.check() }
}

extension Verb {
    fileprivate static var alone: any ParsableCommand.Type { Alone<Self>.self }
}

/// The calls of a program in a line of shell: quotes are removed, redirections dropped, and a command that is substituted
/// is a call of its own.
private struct ShellCalls {
    /// The arguments of each call.
    private(set) var calls: [[String]] = []
    private let program: String
    private var rest: Substring

    init(of program: String, in line: String) {
        (self.program, rest) = (program, Substring(line))
        while !rest.isEmpty { readCommands() }
    }

    /// Reads commands until the parenthesis that ends them, or to the end.
    private mutating func readCommands() {
        var (words, word, isRedirected) = ([String](), String?.none, false)
        func endWord() {
            if let word, !isRedirected { words.append(word) }
            if word != nil { (word, isRedirected) = (nil, false) }
        }
        func endCommand() {
            endWord()
            if let place = words.firstIndex(of: program) { calls.append(Array(words[(place + 1)...])) }
            words = []
        }
        while let sign = rest.popFirst() {
            switch sign {
            case " ", "\t": endWord()
            case "|", ";", "&", "\n": endCommand()
            case "(":
                endCommand()
                readCommands()
            case ")":
                endCommand()
                return
            case "<", ">":
                if let digits = word, digits.allSatisfy(\.isNumber) { word = nil }
                endWord()
                while let next = rest.first, "<>&".contains(next) { rest.removeFirst() }
                isRedirected = true
            case "#" where word == nil: rest = rest.drop { $0 != "\n" }
            default: word = (word ?? "") + part(sign)
            }
        }
        endCommand()
    }

    /// The text that a character begins: itself, or what it quotes.
    private mutating func part(_ sign: Character) -> String {
        switch sign {
        case "'":
            let text = rest.prefix { $0 != "'" }
            rest = rest.dropFirst(text.count + 1)
            return String(text)
        case "\"":
            var text = ""
            while let next = rest.popFirst(), next != "\"" { text += next == "'" ? "'" : part(next) }
            return text
        case "\\": return rest.popFirst().map { String($0) } ?? ""
        case "$" where rest.first == "(":
            rest.removeFirst()
            readCommands()
            return "$(…)"
        default: return String(sign)
        }
    }
}
