// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import YKHardware
import YKWire

/// Says why a key cannot be reached, step by step.
struct Doctor: Verb {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Find out why a key cannot be reached, and what to do.",
        discussion: """
            Goes from the USB port over permissions and the smart card service to the key's firmware. Nothing is changed. \
            The exit code is that of the first problem. --report writes the same into a file without serial numbers, \
            names of users and their folders, to be sent with a question.
            """)
    static let members = ["rungs", "problem", "report"]

    @Option(help: ArgumentHelp("Write what was found into a new file, names and numbers masked.", valueName: "file"))
    var report: String?

    @OptionGroup(title: "Global Options")
    var global: GlobalOptions

    func answer(in world: World) async throws -> Answer {
        let findings = world.findings()
        let rungs = Ladder(findings: findings).rungs
        let first = rungs.first { $0.verdict == .bad }
        var lines = rungs.flatMap(\.lines)
        if first == nil { lines.append("nothing stands in the way") }
        var answer = Answer(
            lines,
            [
                "rungs": .array(rungs.map(\.json)), "problem": first.map { .string($0.name) } ?? .null,
                "report": report.map(JSON.string) ?? .null,
            ])
        answer.failure = first.map { Explanation("doctor-\($0.name)", $0.exit, $0.seen, hint: $0.remedy) }
        if let report { try write(lines, findings, to: report) }
        return answer
    }

    private func write(_ lines: [String], _ findings: Findings, to path: String) throws {
        let masks = Masking(findings)
        let head = ["ykit \(Program.version)", "machine: \(findings.machine.rawValue)", ""]
        let text = (head + lines).map(masks.mask).joined(separator: "\n") + "\n"
        try Files.create(Array(text.utf8), at: path)
    }
}
