// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A plain-text test of the command line.
///
/// `$ COMMAND` is run by sh in a fresh folder without a terminal; the lines behind it are what it has to print on
/// standard output, those behind `! ` what it has to print on standard error, and `? N` is its exit status, 0 when
/// there is none. `<*>` stands for anything within a line, `<code>` for digits, a line `...` for any lines. `#` begins
/// a comment.
struct Script {
    /// One command and what is expected of it.
    struct Step {
        var comments: [String] = []
        var command: String
        var output: [String] = []
        var errors: [String] = []
        var status: Int32 = 0
    }

    let name: String
    var steps: [Step] = []

    init(name: String, text: String) {
        self.name = name
        var comments: [String] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("$ ") {
                steps.append(Step(comments: comments, command: String(line.dropFirst(2))))
                comments = []
            } else if line.hasPrefix("#") {
                comments.append(line)
            } else if line.hasPrefix("! "), !steps.isEmpty {
                steps[steps.count - 1].errors.append(String(line.dropFirst(2)))
            } else if line.hasPrefix("? "), !steps.isEmpty {
                steps[steps.count - 1].status = Int32(line.dropFirst(2)) ?? -1
            } else if !line.isEmpty, !steps.isEmpty {
                steps[steps.count - 1].output.append(line)
            }
        }
    }

    /// The script as text.
    var text: String {
        steps.map { step in
            let lines =
                step.comments + ["$ " + step.command] + step.output + step.errors.map { "! " + $0 }
                + (step.status == 0 ? [] : ["? \(step.status)"])
            return lines.joined(separator: "\n") + "\n"
        }.joined(separator: "\n")
    }

    /// Whether lines are as expected.
    static func matches(_ actual: [String], _ expected: [String]) -> Bool {
        guard let first = expected.first else { return actual.isEmpty }
        if first == "..." {
            return (0...actual.count).contains { matches(Array(actual[$0...]), Array(expected.dropFirst())) }
        }
        guard let line = actual.first, matches(line, first) else { return false }
        return matches(Array(actual.dropFirst()), Array(expected.dropFirst()))
    }

    private static func matches(_ line: String, _ expected: String) -> Bool {
        if !expected.contains("<*>"), !expected.contains("<code>") { return line == expected }
        let pattern = NSRegularExpression.escapedPattern(for: expected)
            .replacingOccurrences(of: "<\\*>", with: ".*").replacingOccurrences(of: "<code>", with: "[0-9]+")
        return line.range(of: "^\(pattern)$", options: .regularExpression) != nil
    }
}
