// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import YKTransport

/// Runs work in order on a thread of its own.
package final class WorkQueue: Sendable {
    private let state = Mutex<(waiting: [@Sendable () -> Void], isRunning: Bool)>(([], false))

    package init() {}

    /// Adds work after everything added before.
    package func add(_ work: @escaping @Sendable () -> Void) {
        let starts = state.withLock { state in
            state.waiting.append(work)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard starts else { return }
        if !SystemThread.start({ [self] in run() }) { state.withLock { $0.isRunning = false } }
    }

    /// Waits until all work is done, or until the deadline.
    package func finish(by deadline: Deadline) {
        while state.withLock({ $0.isRunning }), !deadline.isOver, !deadline.isCancelled {
            Pause.step(deadline, atMost: 20)
        }
    }

    private func run() {
        while true {
            let work: (@Sendable () -> Void)? = state.withLock { state in
                guard !state.waiting.isEmpty else {
                    state.isRunning = false
                    return nil
                }
                return state.waiting.removeFirst()
            }
            guard let work else { return }
            work()
        }
    }
}
