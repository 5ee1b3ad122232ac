// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Where a result for a backend goes: standard output, or a file that is settled before the card does anything.
struct ArculusOutput {
    private let file: SettledFile?

    /// Makes a file that is not there yet, or takes standard output.
    init(_ file: String?) throws(Explanation) {
        self.file = try file.map { path throws(Explanation) in try SettledFile(path, .new) }
    }

    /// The result alone; on standard output too when the file takes it no more, because the card made it once.
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
