// SPDX-License-Identifier: Apache-2.0

import Synchronization

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

    /// Sleeps, at most until the task is cancelled.
    package func sleep(_ time: Duration) async {
        let sleep = Sleep()
        let cancel = set(time) { sleep.end() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { sleep.begin($0) }
        } onCancel: {
            sleep.end()
        }
        cancel()
    }

    private final class Sleep: Sendable {
        private let state = Mutex((isOver: false, sleeper: CheckedContinuation<Void, Never>?.none))

        func begin(_ sleeper: CheckedContinuation<Void, Never>) {
            let isOver = state.withLock { state in
                if !state.isOver { state.sleeper = sleeper }
                return state.isOver
            }
            if isOver { sleeper.resume() }
        }

        func end() {
            let sleeper = state.withLock { state in
                defer { state = (true, nil) }
                return state.sleeper
            }
            sleeper?.resume()
        }
    }
}
