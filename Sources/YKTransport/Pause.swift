// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Waiting between two questions to a key.
package enum Pause {
    /// Sleeps for at most `duration` and not beyond the deadline, in slices, so that a cancellation ends it.
    package static func system(_ duration: Duration, _ deadline: Deadline) {
        let end = ContinuousClock.now.advanced(by: duration)
        while !deadline.isOver, !deadline.isCancelled {
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else { return }
            _ = poll(nil, 0, max(1, min(10, Deadline.after(left).milliseconds(), deadline.milliseconds())))
        }
    }
}
