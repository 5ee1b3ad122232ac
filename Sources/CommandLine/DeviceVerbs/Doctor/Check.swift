// SPDX-License-Identifier: Apache-2.0

import TerminalIO

/// A step between a port and an application: what was seen, whether it is fine, and what to do.
struct Check: Hashable, Report {
    /// The result of a step.
    enum Verdict: String, Hashable, CaseIterable, Reportable {
        case good = "ok"
        case note
        case bad = "problem"
    }

    /// A stable identifier, for programs.
    var name: String
    var verdict: Verdict
    /// What was seen.
    var seen: String
    /// What to do, if anything: lines, some of them commands.
    var remedy: String?
    /// The exit status if this is the first problem.
    var exit: ExitStatus = .failed

    init(_ name: String, _ verdict: Verdict, _ seen: String, remedy: String? = nil, exit: ExitStatus = .failed) {
        self.name = name
        self.verdict = verdict
        self.seen = seen
        self.remedy = remedy
        self.exit = exit
    }

    /// Creates a failed step from an explanation.
    init(_ name: String, _ why: Explanation) {
        self.init(name, .bad, why.message, remedy: why.hint, exit: why.exit)
    }

    /// The lines of several steps for people; repeated advice is omitted.
    static func lines(_ checks: [Check]) -> [String] {
        var said: Set<String> = []
        return checks.flatMap { check in
            var check = check
            if let remedy = check.remedy, !said.insert(remedy).inserted { check.remedy = "as above" }
            return check.lines
        }
    }

    /// The lines for a person.
    var lines: [String] {
        let mark =
            switch verdict {
            case .good: Style.green.around("ok") + "     "
            case .note: Style.yellow.around("note") + "   "
            case .bad: Style.red.around("PROBLEM")
            }
        let advice = remedy.map { $0.split(separator: "\n").map(String.init) } ?? []
        return ["\(mark)  \(name.padded(to: 14))\(seen)"]
            + advice.enumerated().map { ($0.offset == 0 ? "         -> " : "            ") + $0.element }
    }

    static let members: [Member<Check>] = [
        Member("name") { $0.name },
        Member("verdict") { $0.verdict },
        Member("seen") { $0.seen },
        Member("remedy") { $0.remedy },
        Member("exitCode") { $0.verdict == .bad ? Int($0.exit.rawValue) : 0 },
    ]
}
