// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKWire

/// The exchanges a verb would do, for `--plan`: what only reads was really sent, what changes the key was not.
final class Plan: Sendable {
    /// One exchange.
    struct Step: Sendable {
        var command: [UInt8]
        var words: String
        var details: [String]
        var isSent: Bool
    }

    private struct State {
        var steps: [Step] = []
        var isStopped = false
    }

    private let state = Mutex(State())

    /// Notes an exchange.
    func add(_ step: Step) { state.withLock { $0.steps.append(step) } }

    /// Notes that what comes next depends on a reply that only the real thing gives.
    func stop() { state.withLock { $0.isStopped = true } }

    /// Whether the plan ends before the verb does.
    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// The plan as an answer.
    var answer: Answer {
        let (steps, isStopped) = state.withLock { ($0.steps, $0.isStopped) }
        var lines = steps.flatMap { step in
            ["\(step.isSent ? "sent    " : "not sent") \(step.words)"]
                + (step.isSent ? [] : step.details.map { "         " + $0 })
        }
        if isStopped { lines.append("what follows depends on the key's answer") }
        let json = steps.map { step -> JSON in
            [
                "command": .string(Hex.encode(step.command)), "words": .string(step.words),
                "details": .array(step.details.map(JSON.string)), "sent": .bool(step.isSent),
            ]
        }
        return Answer(lines, ["plan": .array(json), "complete": .bool(!isStopped)])
    }
}
