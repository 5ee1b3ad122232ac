// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Waiting in small steps, so that a deadline or a cancellation ends it.
package enum Pause {
    /// Sleeps for at most `duration` and not beyond the deadline.
    package static func system(_ duration: Duration, _ deadline: Deadline) {
        let end = ContinuousClock.now.advanced(by: duration)
        while !deadline.isOver, !deadline.isCancelled {
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else { return }
            step(deadline, atMost: Deadline.after(left).milliseconds(limit: 10))
        }
    }

    /// One step of at most ten milliseconds.
    package static func step(_ deadline: Deadline, atMost limit: Int32 = 10) {
        _ = poll(nil, 0, max(1, deadline.milliseconds(limit: limit)))
    }

    /// Waits for `duration`, for ever without one, or until the deadline ends it by throwing.
    package static func wait(
        _ duration: Duration?, _ deadline: Deadline, _ doing: String
    ) throws(LinkError) {
        if duration == .zero { return }
        let end = duration.map { ContinuousClock.now.advanced(by: $0) }
        while end.map({ ContinuousClock.now < $0 }) ?? true {
            try deadline.check(doing)
            step(deadline)
        }
    }

    /// Tries until there is a value, or the deadline ends it by throwing.
    package static func until<Value>(
        _ deadline: Deadline, _ doing: String, _ body: () throws(LinkError) -> Value?
    ) throws(LinkError) -> Value {
        while true {
            if let value = try body() { return value }
            try deadline.check(doing)
            step(deadline)
        }
    }
}
