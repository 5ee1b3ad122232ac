// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Work in a library that cannot be interrupted, such as the derivation of a key.
package enum AbandonableWork {
    private final class Outcome<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
        let isThere = Semaphore()
    }

    /// Runs `body` on a thread of its own, and waits until it ends or the operation is cancelled.
    ///
    /// - Parameters:
    ///   - cancellation: Ends the wait within a few hundredths of a second. The thread then continues alone, and its result is
    ///     dropped.
    ///   - body: The work, which has to end by itself some time.
    /// - Returns: The result; `nil` if the operation was cancelled.
    package static func run<Value: Sendable>(
        _ cancellation: Cancellation, _ body: @escaping @Sendable () -> Value
    ) -> Value? {
        if cancellation.isCancelled { return nil }
        let outcome = Outcome<Value>()
        let isStarted = SystemThread.start {
            let value = body()
            outcome.value.withLock { $0 = value }
            outcome.isThere.post()
        }
        guard isStarted else { return body() }
        while !outcome.isThere.wait(milliseconds: 20) {
            if cancellation.isCancelled { return nil }
        }
        return outcome.value.withLock { $0 }
    }
}
