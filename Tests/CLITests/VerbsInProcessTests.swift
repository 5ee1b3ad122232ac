// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKInteraction
import YKTestSupport
import YKVirtualKey

@testable import TerminalIO
@testable import Verbs

/// Runs each line of fixtures/verbs.txt in this process: a shell reads the line, and its ykit is a function that notes
/// the words and what it was given to read.
@Suite struct VerbsInProcessTests {
    /// The lines that need a process, and why.
    static let processes: [(line: String, reason: String)] = [
        ("securid watch", "the verb ends the process"),
        ("virtual serve", "the verb decides on which processors the process runs"),
        ("oath uri", "the argument is the URI, or standard input, which belongs to the process"),
    ]

    @Test func eachAnswersAsItDoesInAProcess() async throws {
        let lines = try VerbTests.lines()
        let shell = try Shell()
        _ = try await shell.run(VerbTests.functions + VerbTests.files)
        var run = 0
        for line in lines {
            if Self.processes.contains(where: { line.command.contains("y " + $0.line) }) {
                _ = try await shell.run(VerbTests.functions + line.command)
                continue
            }
            let read = try await shell.run(VerbTests.functions + Self.noting + line.command)
            let given = try #require(Given(shell.folder), "\(line.command)\n\(read.errors)")
            let tested = try await Run.test(given.words, in: shell.folder, variables: ["YKIT_PIN": "123456"])
            given.close()
            if let file = given.keep {
                try tested.output.write(
                    to: shell.folder.appendingPathComponent(file), atomically: true, encoding: .utf8)
            }
            VerbTests.check("\(tested.output)§ \(tested.status)\n", line, tested.errors)
            run += 1
        }
        expect(run, is: lines.count - Self.processes.count)
    }

    /// What a line gives to ykit.
    private struct Given {
        var words: [String]
        /// The file for the answer.
        let keep: String?
        private var open: [FileHandle] = []

        /// Reads what the shell noted: words that read standard input or a descriptor get one of this process.
        init?(_ folder: URL) {
            func text(_ name: String) -> String? {
                let file = folder.appendingPathComponent(name)
                defer { try? FileManager.default.removeItem(at: file) }
                return try? String(contentsOf: file, encoding: .utf8)
            }
            guard let noted = text(".words") else { return nil }
            words = noted.split(separator: "\0", omittingEmptySubsequences: false).dropLast().map(String.init)
            keep = text(".keep").map { $0.trimmingCharacters(in: .newlines) }
            for index in words.indices {
                let word = words[index]
                if word == "-" { words[index] = ".stdin" }
                if word.hasSuffix("-stdin"), let number = number(folder, ".stdin") {
                    words[index] = "\(word.dropLast("-stdin".count))-fd=\(number)"
                }
                if word.hasSuffix("-fd"), let number = number(folder, ".fd\(words[index + 1])") {
                    words[index + 1] = String(number)
                }
            }
        }

        private mutating func number(_ folder: URL, _ name: String) -> Int32? {
            guard let file = FileHandle(forReadingAtPath: folder.appendingPathComponent(name).path) else { return nil }
            open.append(file)
            return file.fileDescriptor
        }

        func close() { for file in open { try? file.close() } }
    }

    private static let noting = #"""
        ykit() {
            for word; do printf '%s\0' "$word"; done > .words
            cat > .stdin
            for n in 3 4 5; do if [ -e /proc/self/fd/$n ]; then eval "cat <&$n" > .fd$n; fi; done
        }
        keep() { echo "$1" > .keep; shift; "$@"; }

        """#

    // MARK: the person

    /// A person who is asked, in a folder of their own.
    private func run(_ words: String, _ key: VirtualKey, _ person: any Person) async throws -> Run.Tested {
        let shell = try Shell()
        return try await Run.test(
            words.split(separator: " ").map(String.init), key: key, person: person, in: shell.folder)
    }

    @Test func aPersonIsAskedOnceAndNothingIsDoneAfterNo() async throws {
        let key = try VirtualKey.new()
        let no = ScriptedPerson(agrees: false)
        let declined = try await run("piv reset", key, no)
        #expect(declined.status == 17 && declined.errors == "ykit: nothing was changed\n", "\(declined)")
        expect(no.questions.count, is: 1)
        let done = try await run("piv reset", key, ScriptedPerson())
        #expect(done.status == 0 && done.output == "all PIV keys and certificates deleted\n", "\(done)")
    }

    @Test func withoutAPersonTheQuestionIsInTheError() async throws {
        let key = try VirtualKey.new()
        let result = try await run("piv access set-retries 3 3", key, NoPerson())
        expect(
            result.errors,
            is: """
                ykit: cannot prompt without a terminal: the PIN would be reset to 123456 and the PUK to 12345678: set \
                the number of tries?
                hint: answer with --force

                """, "\(result)")
        let plan = try await run("--plan piv reset", key, NoPerson())
        #expect(plan.status == 0 && plan.output.contains("not sent"), "\(plan)")
    }

    @Test func secretsAreTyped() async throws {
        let key = try VirtualKey.new()
        let person = ScriptedPerson("123456", "654321")
        let changed = try await run("piv access change-pin", key, person)
        expect(changed.status, is: 0, "\(changed)")
        #expect(person.secrets.isEmpty)
        let wrong = try await run("piv access change-pin", key, ScriptedPerson("123456", "222222"))
        #expect(wrong.status != 0 && wrong.errors.contains("2 tries"), "\(wrong)")
    }

    @Test func manyRunAtOnce() async throws {
        try await withThrowingTaskGroup { group in
            for number in 1...16 {
                group.addTask {
                    let key = try VirtualKey.new(serial: UInt32(number))
                    let listed = try await run("--json list", key, NoPerson())
                    #expect(listed.output.contains("\"serial\":\"\(number)\""), "\(listed)")
                }
            }
            try await group.waitForAll()
        }
    }
}
