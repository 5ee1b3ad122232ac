// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKWire

/// The destination of a backend's result.
struct ArculusOutput: ParsableArguments {
    @Option("--output <file>", help: "Where the result goes.") var output = "-"

    @OptionGroup var replacing: OutputOptions

    /// Opens the destination.
    func open(_ world: World) throws(Explanation) -> FileOutput {
        try FileOutput(output, isText: true, isSecret: true, force: replacing.force, world)
    }

    /// Returns the result alone. It also goes to standard output if the file cannot be written, since the card produced
    /// it only once.
    static func answer(_ result: JSONValue, _ members: [String: JSONValue], in file: FileOutput) -> Answer {
        var answer = Answer()
        answer.members["credential"] = result
        for (key, value) in members { answer.members[key] = value }
        file.keep(Array((result.text + "\n").utf8), &answer)
        return answer
    }
}
