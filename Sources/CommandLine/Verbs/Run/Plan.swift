// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKKeys
import YKWire

/// What a verb would do, which `--plan` shows instead of doing it.
struct PlanReport: Report {
    let steps: [ExchangePlan.Step]
    let isStopped: Bool

    static let members: [Member<PlanReport>] = [
        Member("plan") { $0.steps },
        Member("complete", "false if what follows depends on the key's answer") { !$0.isStopped },
    ]

    fileprivate var lines: [String] {
        let lines = steps.flatMap { step in
            ["\(step.isSent ? "sent    " : "not sent") \(step.summary.printable)"]
                + (step.isSent ? [] : step.details.map { "         " + $0.printable })
        }
        return lines + (isStopped ? ["what follows depends on the key's answer"] : [])
    }
}

extension ExchangePlan.Step: Report {
    package static let members: [Member<ExchangePlan.Step>] = [
        Member("command", "in hexadecimal") { Hex.encode($0.command) },
        Member("words") { $0.summary.printable },
        Member("details") { $0.details.map(\.printable) },
        Member("sent", "whether it was sent, since it changes nothing") { $0.isSent },
    ]
}

extension ExchangePlan {
    /// The plan as an answer.
    package var answer: Answer {
        let report = PlanReport(steps: steps, isStopped: isStopped)
        return Outcome(report, report.lines).answer(as: Shape())
    }
}
