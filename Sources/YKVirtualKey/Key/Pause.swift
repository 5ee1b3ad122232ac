// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport

/// Waiting in small steps, so that a deadline or a cancellation ends it.
enum Pause {
    /// One step of at most ten milliseconds.
    static func step(_ deadline: Deadline) {
        _ = poll(nil, 0, max(1, min(10, deadline.milliseconds())))
    }

    /// Waits for `duration`, or until the deadline ends it by throwing.
    static func wait(_ duration: Duration?, _ deadline: Deadline, _ doing: String) throws(LinkError) {
        if duration == .zero { return }
        let end = duration.map { ContinuousClock.now.advanced(by: $0) }
        while end.map({ ContinuousClock.now < $0 }) ?? true {
            try deadline.check(doing)
            step(deadline)
        }
    }

    /// Tries until there is a value, or the deadline ends it by throwing.
    static func until<Value>(
        _ deadline: Deadline, _ doing: String, _ body: () throws(LinkError) -> Value?
    ) throws(LinkError) -> Value {
        while true {
            if let value = try body() { return value }
            try deadline.check(doing)
            step(deadline)
        }
    }
}
