// SPDX-License-Identifier: Apache-2.0

import Arguments
import Foundation
import Testing
import YKTestSupport

@testable import TerminalIO
@testable import Verbs
@testable import ykit

/// A global option works, or is refused: in each verb.
@Suite struct GlobalUseTests {
    /// The options for the output, the log and the virtual key, which apply to every verb.
    private static let general: Set = [
        "json", "strict", "quiet", "color", "virtual", "log-level", "log-file",
    ]

    private static let values = [
        "device": "1", "reader": "x", "path": "1-2", "link": "pcsc", "timeout": "3", "record": "f", "replay": "f",
        "replay-mode": "lookup", "scp": "03", "scp-keys": "f", "scp-keys-fd": "3", "scp-ca": "f", "scp-card-key": "f",
        "scp-oce": "f", "scp-oce-ca": "ca,3", "scp-password-fd": "3",
    ]

    /// What a verb says of one global option.
    private static func refusal(_ name: String, of verb: any VerbCommand.Type) throws -> String? {
        let parser = CommandLineParser(root: GlobalLine.self, global: GlobalOptions.self) { _ in false }
        let words = ["--\(name)"] + [values[name]].compactMap(\.self)
        guard case .verb(let read) = try parser.request(try parser.walk(words + ["verb"])),
            let line = read.verb as? VerbLine<GlobalVerb>
        else { throw UsageError("no verb") }
        do { try verb.verb.uses.check(line.$global) } catch { return error.description }
        do { try line.global.checkCombinations(verb.verb.uses) } catch { return error.message }
        return nil
    }

    /// A verb that has only the global options.
    private struct GlobalVerb: Verb {
        static let uses: GlobalUse = [.key, .secrets, .reader]
        static let about = About("A verb.")
        static let answer = Shape.none
        func run(in run: Run) async throws -> Outcome<Void> { .printed }
    }

    private struct GlobalLine: ParsableCommand {
        static let about = About("A root.", subcommands: ["verb": GlobalVerb.self])
    }

    @Test func eachIsRefusedByAVerbThatUsesNoKey() throws {
        let names = Declarations.of(GlobalOptions.self).map(\.name).filter { !Self.general.contains($0) }
        #expect(names.count > 15)
        let unused = try #require(
            Commands.root.tree(hasHidden: true).lazy.compactMap { $0.command as? any VerbCommand.Type }.first {
                $0.verb.uses == []
            })
        for name in names { #expect(try Self.refusal(name, of: unused) != nil, "\(name)") }
    }

    @Test func anOptionOfTheChannelNeedsTheChannel() throws {
        var count = 0
        for (path, command) in Commands.root.tree(hasHidden: true) {
            guard let verb = command as? any VerbCommand.Type else { continue }
            let recorded = verb.verb.uses.contains(.channel) && !verb.verb.uses.contains(.device)
            for name in ["scp-keys", "scp-keys-fd", "scp-oce", "scp-oce-ca", "scp-password-fd"] {
                let isUsed = recorded && name.hasPrefix("scp-keys")
                try expect((Self.refusal(name, of: verb) == nil), is: isUsed, "\(path) --\(name)")
                count += 1
            }
        }
        #expect(count > 1000)
    }

    /// Types each line of fixtures/verbs.txt with --plan, in a copy of the folder, before it is carried out: what would be
    /// done is printed, or the option is refused.
    @Test func aPlanSaysWhatItWouldDo() async throws {
        let lines = try VerbTests.lines().filter { line in
            !line.command.contains(">") && !line.command.hasPrefix("keep ") && line.verb != nil
        }
        let typed = try VerbTests.lines().map { line in
            guard lines.contains(where: { $0.command == line.command }) else {
                return "{ \(line.command); } > /dev/null 2>&1"
            }
            let planned = line.command.replacing(#/(^|[ ;])y /#) { "\($0.output.1)yp " }
            return
                "rm -rf \"$PWD.plan\"; cp -r . \"$PWD.plan\"; echo '§'; (cd \"$PWD.plan\"; \(planned)\necho \"§ $?\")\n"
                + "{ \(line.command); } > /dev/null 2>&1"
        }
        let functions = "yp() { ykit --virtual key.json --plan \"$@\" 2> /dev/null < /dev/null; }\n"
        let shell = try Shell()
        let script = VerbTests.preparation + functions + typed.joined(separator: "\n") + "\nrm -rf \"$PWD.plan\"\n"
        try script.write(to: shell.folder.appendingPathComponent("all.sh"), atomically: true, encoding: .utf8)
        let blocks = try await shell.run(". ./all.sh 2> /dev/null").output.components(separatedBy: "§\n").dropFirst()
        expect(blocks.count, is: lines.count)
        for (line, block) in zip(lines, blocks) {
            let parts = block.components(separatedBy: "§ ")
            let status = parts.last?.split(separator: "\n").first.map(String.init) ?? ""
            #expect(status != "0" || parts[0].contains("\n"), "\(line.command): says nothing")
            if line.verb?.type.uses.contains(.plan) == false { expect(status, is: "2", "\(line.command)") }
        }
    }
}
