// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKKeys
import YKWire

extension ExchangePlan {
    /// The plan as an answer.
    package var answer: Answer {
        let (steps, isStopped) = (steps, isStopped)
        var lines = steps.flatMap { step in
            ["\(step.isSent ? "sent    " : "not sent") \(step.summary.printable)"]
                + (step.isSent ? [] : step.details.map { "         " + $0.printable })
        }
        if isStopped { lines.append("what follows depends on the key's answer") }
        let json = steps.map { step -> JSONValue in
            [
                "command": .string(Hex.encode(step.command)), "words": .string(step.summary.printable),
                "details": .array(step.details.map { .string($0.printable) }), "sent": .bool(step.isSent),
            ]
        }
        return Answer(lines, ["plan": .array(json), "complete": .bool(!isStopped)])
    }
}
