// SPDX-License-Identifier: Apache-2.0

/// Runs a closure after a delay, unless it is cancelled first.
package struct Alarm: Sendable {
    /// Cancels the closure if it has not started.
    package typealias Cancel = @Sendable () -> Void

    /// Starts the delay, and returns at once.
    package let set: @Sendable (Duration, @escaping @Sendable () -> Void) -> Cancel

    package init(_ set: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Cancel) { self.set = set }

    /// Starts a thread for each delay: a task that sleeps would start three, Swift's pool, its manager and its timer.
    package static let threads = Alarm { delay, body in
        let isOver = Semaphore()
        _ = SystemThread.start {
            if !isOver.wait(milliseconds: Deadline.after(delay).milliseconds()) { body() }
        }
        return { isOver.post() }
    }
}
