// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKWire

/// Where a recording goes: into a file, or to standard output.
struct RecordingOutput: ParsableArguments {
    @Option(["--output <file>", "-o"], help: "Where the recording goes.") var output: String?

    @OptionGroup var replacing: OutputOptions

    func check(with global: GlobalOptions) throws {
        if global.json, output == nil { throw UsageError("--json needs --output FILE") }
    }

    /// Writes the recording, and adds it or a line about the file to an answer.
    func put(_ recording: [UInt8], _ words: String, _ answer: inout Answer, _ world: World) throws(Explanation) {
        if let output {
            try FileOutput(output, isSecret: true, force: replacing.force, world).put(recording, &answer)
            answer.lines = ["\(output): \(words)"]
        } else {
            answer.raw = recording
        }
        answer.members["output"] = output.map(JSONValue.string) ?? .null
    }
}
