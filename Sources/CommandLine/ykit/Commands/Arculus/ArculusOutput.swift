// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The destination of a backend's result: standard output, or a file that is opened before the card does anything.
struct ArculusOutput {
    private let file: SettledFile?

    /// Creates a new file, or uses standard output.
    init(_ file: String?) throws(Explanation) {
        self.file = try file.map { path throws(Explanation) in try SettledFile(path, .new) }
    }

    /// Returns the result alone. It also goes to standard output if the file cannot be written, since the card produced
    /// it only once.
    func answer(_ result: JSON, _ members: [String: JSON]) -> Answer {
        var answer = Answer()
        answer.isMadeOnce = true
        answer.members["credential"] = result
        for (key, value) in members { answer.members[key] = value }
        let text = Array((result.text + "\n").utf8)
        guard let file else {
            answer.raw = text
            return answer
        }
        do throws(Explanation) { try file.finish(text) } catch {
            answer.failure = error
            answer.raw = text
        }
        return answer
    }
}
