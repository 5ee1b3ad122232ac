// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKWire

/// The destination of a recording: a file, or standard output.
struct RecordingOutput: ParsableArguments {
    @Option(["--output <file>", "-o"], help: "Where to write the recording.") var output: String?

    @OptionGroup var replacing: OutputOptions

    func check(with global: GlobalOptions) throws {
        if global.json, output == nil { throw UsageError("--json needs --output FILE") }
    }

    /// Writes a recording, and returns its outcome, with a line about the file if it was written to one.
    func put<Reported: Report>(
        _ recording: [UInt8], of report: Reported, _ words: String, _ run: Run
    ) throws(Explanation) -> Outcome<Reported> {
        guard let output else {
            var outcome = Outcome(report)
            outcome.answer.raw = recording
            return outcome
        }
        return try FileOutput(output, isSecret: true, force: replacing.force, run)
            .put(recording, of: report, "\(output): \(words)")
    }
}
