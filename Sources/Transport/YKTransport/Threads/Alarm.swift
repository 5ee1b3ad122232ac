// SPDX-License-Identifier: Apache-2.0

/// Runs something after a delay, unless it is called off before.
package struct Alarm: Sendable {
    /// Calls off what has not begun to run.
    package typealias CallOff = @Sendable () -> Void

    /// Starts the delay, and returns at once.
    package let set: @Sendable (Duration, @escaping @Sendable () -> Void) -> CallOff

    package init(_ set: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> CallOff) { self.set = set }

    /// Starts a thread for each delay: a task that sleeps would start three, Swift's pool, its manager and its timer.
    package static let threads = Alarm { delay, body in
        let isOver = Semaphore()
        _ = SystemThread.start {
            if !isOver.wait(milliseconds: Deadline.after(delay).milliseconds()) { body() }
        }
        return { isOver.post() }
    }
}
