// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKTransport

/// Something that happens once, for which tasks wait without blocking a thread.
package final class Signal: Sendable {
    private let state = Mutex((isSent: false, waiting: [CheckedContinuation<Void, Never>]()))

    package init() {}

    /// Returns once the signal was sent.
    package func wait() async {
        await withCheckedContinuation { continuation in
            let isSent = state.withLock { state in
                if !state.isSent { state.waiting.append(continuation) }
                return state.isSent
            }
            if isSent { continuation.resume() }
        }
    }

    /// Sends the signal; again does nothing.
    package func send() {
        let waiting = state.withLock { state in
            state.isSent = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// Runs what blocks on a thread of its own, so that no thread of Swift's pool is blocked.
package func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        let isStarted = SystemThread.start { continuation.resume(with: Result { try body() }) }
        if !isStarted { continuation.resume(throwing: LinkError.timedOut("a thread")) }
    }
}
