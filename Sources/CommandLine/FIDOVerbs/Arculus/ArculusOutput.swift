// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKWire

/// The destination of a backend's result.
struct ArculusOutput: ParsableArguments {
    @Option("--output <file>", help: "The file to write the result to.") var output = "-"

    @OptionGroup var replacing: OutputOptions

    /// Opens the destination.
    func open(_ run: Run) throws(Explanation) -> FileOutput {
        try FileOutput(output, isText: true, isSecret: true, force: replacing.force, run)
    }

    /// Returns the result alone. It also goes to standard output if the file cannot be written, since the card produced
    /// it only once.
    static func outcome<Success>(
        _ success: Success, _ result: JSONValue, in file: FileOutput
    ) -> Outcome<Success> {
        var outcome = Outcome(success)
        file.keep(Array((result.text + "\n").utf8), &outcome.answer)
        return outcome
    }
}
