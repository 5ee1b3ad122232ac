// SPDX-License-Identifier: Apache-2.0

import Arguments
import Foundation
import Testing
import YKTestSupport
import YKWire

@testable import TerminalIO
@testable import Verbs
@testable import ykit

/// Runs Tests/CLITests/scripts. With YKIT_UPDATE_SCRIPTS=1 what is printed becomes what is expected, to be read in the
/// diff.
@Suite struct ScriptTests {
    static let folder = Shell.root.appendingPathComponent("Tests/CLITests/scripts")

    static var names: [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasSuffix(".txt") }.sorted()
    }

    @Test(arguments: names) func script(_ name: String) async throws {
        let file = Self.folder.appendingPathComponent(name)
        var script = Script(name: name, text: try String(contentsOf: file, encoding: .utf8))
        let isUpdate = ProcessInfo.processInfo.environment["YKIT_UPDATE_SCRIPTS"] != nil
        let shell = try Shell("script \(name.dropLast(4))")
        for index in script.steps.indices {
            let step = script.steps[index]
            let result = try await shell.run(step.command)
            let output = Shell.Result.lines(result.output)
            // On a busy machine a virtual key may need the time after which a person is asked for a touch.
            let errors = Shell.Result.lines(result.errors).filter { $0 != "touch the key" || step.errors.contains($0) }
            let isSame =
                Script.matches(output, step.output) && Script.matches(errors, step.errors)
                && result.status == step.status
            shell.note(isSame)
            expect(Self.problems(in: output, of: step.command), is: [], "\(step.command)")
            if isUpdate {
                if !isSame {
                    script.steps[index].output = output
                    script.steps[index].errors = errors
                    script.steps[index].status = result.status
                }
            } else {
                #expect(isSame, "\(step.command)\n\(result.output)\n\(result.errors)\n? \(result.status)")
            }
        }
        if isUpdate { try script.text.write(to: file, atomically: true, encoding: .utf8) }
    }

    /// The lines of the article are those of the script, so that they print what it says.
    @Test func theArticleOnJSONIsAScript() throws {
        let article = Shell.root.appendingPathComponent("Sources/ykit/ykit.docc/JSON.md")
        let blocks = try String(contentsOf: article, encoding: .utf8).components(separatedBy: "```\n")
        let shown = blocks.enumerated().filter { $0.offset % 2 == 1 }
            .flatMap { $0.element.split(separator: "\n").map(String.init) }.filter { !$0.hasPrefix("#") }
        let file = Self.folder.appendingPathComponent("jq.txt")
        let script = Script(name: "jq", text: try String(contentsOf: file, encoding: .utf8))
        let beginning = "PATH=$PWD/bin:$PATH; "
        let typed = script.steps.map(\.command).filter { $0.contains("| jq ") }
        #expect(shown.count > 9 && typed == shown.map { beginning + $0 })
    }

    /// Where the JSON answers among lines differ from the schemas of all verbs on a command line. Lines that the command
    /// cut are none.
    private static func problems(in output: [String], of command: String) -> [String] {
        let verbs = verbs(on: command)
        return output.filter { $0.hasPrefix("{\"ok\":") }.flatMap { line -> [String] in
            guard let answer = try? JSONValue(parsing: Array(line.utf8)) else { return [] }
            let all = verbs.map { SchemaCheck.problems(in: answer, $0.schema) }
            return all.isEmpty || all.contains([]) ? [] : all[0]
        }
    }

    /// The verbs that a command line of the shell names.
    private static func verbs(on command: String) -> [any Verb.Type] {
        let words = command.split { " \n;|&()$`\"".contains($0) }.map(String.init)
        return words.indices.filter { words[$0] == "ykit" }.compactMap { start in
            var command: any ParsableCommand.Type = Commands.root
            for word in words[(start + 1)...] {
                guard let next = command.about.subcommand(word)?.command else { continue }
                if let verb = next as? any VerbCommand.Type { return verb.verb }
                command = next
            }
            return nil
        }
    }
}
