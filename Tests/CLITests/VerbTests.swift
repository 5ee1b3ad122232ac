// SPDX-License-Identifier: Apache-2.0

import Arguments
import Foundation
import Testing
import YKTestSupport
import YKWire

@testable import TerminalIO
@testable import Verbs
@testable import ykit

/// Runs each verb of the command tree with --json on the virtual key, and reads what it answers.
@Suite struct VerbTests {
    /// A line of fixtures/verbs.txt: the exit status it is to have, and what the shell is given.
    struct Line {
        let status: Int32
        let command: String

        init(_ text: String) {
            let words = text.split(separator: " ", maxSplits: 1).map(String.init)
            let status = words[0].hasPrefix("[") ? Int32(words[0].dropFirst().dropLast()) : nil
            self.status = status ?? 0
            command = status == nil ? text : words[1]
        }

        /// The verb that is called, and its words.
        var verb: (name: String, type: any Verb.Type)? {
            let words = command.split(separator: " ").map(String.init).drop { $0 != "y" }.dropFirst()
            var command: any ParsableCommand.Type = Commands.root
            var path: [String] = []
            for word in words where !word.hasPrefix("-") {
                guard let next = command.about.subcommand(word)?.command else { continue }
                (command, path) = (next, path + [word])
                if let verb = next as? any VerbCommand.Type { return (path.joined(separator: " "), verb.verb) }
            }
            return nil
        }
    }

    static func lines() throws -> [Line] {
        let file = Shell.root.appendingPathComponent("Tests/CLITests/fixtures/verbs.txt")
        let text = try String(contentsOf: file, encoding: .utf8)
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { Line(String($0)) }
    }

    /// All verbs that stand in the help, by the words that lead to them.
    static func verbs() -> [String] {
        Commands.root.listedVerbs.map { $0.path.joined(separator: " ") }
    }

    @Test func eachVerbHasALine() throws {
        let called = Set(try Self.lines().compactMap { $0.verb?.name })
        expect(Self.verbs().filter { !called.contains($0) }, is: [])
        #expect(Self.verbs().count > 90)
    }

    @Test func eachAnswerIsOneObjectWithTheMembersOfItsVerb() async throws {
        let lines = try Self.lines()
        let shell = try Shell()
        let script = lines.map { "echo '§'; \($0.command)\necho \"§ $?\"" }.joined(separator: "\n")
        try (Self.preparation + script).write(
            to: shell.folder.appendingPathComponent("all.sh"), atomically: true, encoding: .utf8)
        let blocks = try await shell.run(". ./all.sh").output.components(separatedBy: "§\n").dropFirst()
        expect(blocks.count, is: lines.count)
        for (line, block) in zip(lines, blocks) { Self.check(block, line) }
    }

    /// Compares what a line printed, and its status, with what it says.
    static func check(_ block: String, _ line: Line, _ errors: String = "") {
        let parts = block.components(separatedBy: "§ ")
        let printed = parts[0]
        let status = Int32(parts.last?.trimmingCharacters(in: .newlines) ?? "")
        expect(status, is: line.status, "\(line.command)\n\(printed)\(errors)")
        #expect(printed.filter { $0 == "\n" }.count == 1 && printed.hasSuffix("\n"), "\(line.command)\n\(printed)")
        let object = try? JSONSerialization.jsonObject(with: Data(printed.utf8)) as? [String: Any]
        let members = ["ok", "error", "warnings"] + (line.verb?.type.members.map(\.name) ?? [])
        expect(object.map { Set($0.keys) }, is: Set(members), "\(line.command)\n\(printed)")
        expect(object?["ok"] as? Bool, is: (line.status == 0), "\(line.command)")
        if line.status == 0, let verb = line.verb?.type,
            case .object(let answer)? = try? JSONValue(parsing: Array(printed.utf8))
        {
            // A success is narrower than the schema, in which the members may be null because of a failure.
            let problems = verb.members.flatMap { member in
                SchemaCheck.problems(in: answer[member.name] ?? .null, member.form.schema, at: member.name)
            }
            expect(problems, is: [], "\(line.command)\n\(printed)")
        }
        let error = object?["error"] as? [String: Any]
        expect(error?["exitCode"] as? Int32 ?? 0, is: line.status, "\(line.command)")
    }

    @Test func eachVerbIsInTheArticle() {
        _ = Commands.root
        let lines = AnswerArticle.text.split(separator: "\n").map(String.init)
        let headings = Set(lines.filter { $0.hasPrefix("#") }.map { String($0.drop { "# ".contains($0) }) })
        expect(Self.verbs().filter { !headings.contains($0) }, is: [])
        #expect(lines.contains("- `serial` (text or null)"))
        #expect(lines.contains("- `accounts` (list of objects)"))
        #expect(lines.contains("  - `id` (text): the text that the verbs take"))
        #expect(lines.contains("- `account` (object); as in `account` of `oath add`"))
    }

    static var preparation: String { functions + files }

    static let functions = #"""
        export YKIT_PIN=123456
        y() {
            case $1 in virtual | capture | completion | schema) set -- --json "$@" ;; *) set -- --virtual key.json --json "$@" ;; esac
            ykit "$@"
        }
        keep() { file=$1; shift; "$@" > $file; status=$?; cat $file; return $status; }
        member() { sed 's/.*"'"$1"'":"\([^"]*\)".*/\1/' "$2"; }

        """#

    static let files = #"""
        printf '123456\n' > pin; echo > empty; printf '12345678\n' > puk; echo blob > blob
        echo JBSWY3DPEHPK3PXP > base32; echo ecde18dbe76fbd0c33330f1c354871db > aes
        echo 'otpauth://totp/Dave:dave?secret=JBSWY3DPEHPK3PXP' > uri
        echo 'otpauth://totp/Eve:eve?secret=JBSWY3DPEHPK3PXP' > uri2
        echo '{"url": "http://localhost:9", "paths": "conformance"}' > server.json
        echo '{"challenge":"AAECAwQFBgcICQoLDA0ODw","rpId":"example.com"}' > request.json
        openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem 2> openssl.err

        """#
}
