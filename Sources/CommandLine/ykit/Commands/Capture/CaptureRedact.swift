// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCapture
import YKTransport
import YKWire

/// Overwrites the secrets in a recording.
struct CaptureRedact: Verb {
    static let configuration = CommandConfiguration(
        commandName: "redact", abstract: "Overwrite the secrets in a recording and print it.",
        discussion: "With --output the result goes into a new file; the recording itself is left as it is.")
    static let members = ["file", "output", "changed"]

    @Argument(help: "A recording, or - for standard input.", completion: .file)
    var file: String

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Write into this file.", valueName: "file"), completion: .file)
    var output: String?

    @OptionGroup var replacing: OutputOptions

    @OptionGroup(title: "Global Options")
    var global: GlobalOptions

    func check() throws {
        if global.json, output == nil { throw UsageError("--json needs --output FILE") }
    }

    func answer(in world: World) throws -> Answer {
        let original = try Capture(file: file)
        let before = original.events
        let capture = original.redacted()
        let changed = zip(before, capture.events).count { $0.kind != $1.kind }
        var answer = Answer()
        if let output {
            try FileOutput(output, isSecret: true, force: replacing.force, world)
                .put(Array(capture.text.utf8), &answer)
            answer.lines = ["\(output): secrets overwritten in \(changed) of \(before.count) events"]
        } else {
            answer.raw = Array(capture.text.utf8)
        }
        answer.members["file"] = .string(file)
        answer.members["output"] = output.map(JSON.string) ?? .null
        answer.members["changed"] = .int(Int64(changed))
        return answer
    }
}
