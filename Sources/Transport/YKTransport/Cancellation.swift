// SPDX-License-Identifier: Apache-2.0

import CThreads
import Glibc
import Synchronization

/// Cancels the operations that wait under it. Cancellation is permanent.
public final class Cancellation: Sendable {
    private let flag = Atomic<Bool>(false)
    private let seen = Atomic<Bool>(false)
    /// What ``descriptor`` returns; -1 before its first use.
    private let counter = Atomic<Int32>(-1)

    /// Creates a token that has not been cancelled.
    public init() {}

    deinit {
        let counter = counter.load(ordering: .acquiring)
        if counter >= 0 { close(counter) }
    }

    /// Cancels: waits end with `LinkError.cancelled` when they next check. Async-signal-safe.
    public func cancel() {
        flag.store(true, ordering: .sequentiallyConsistent)
        let counter = counter.load(ordering: .sequentiallyConsistent)
        if counter >= 0 { ykit_count_event(counter) }
    }

    /// Whether it has been cancelled.
    public var isCancelled: Bool {
        guard flag.load(ordering: .acquiring) else { return false }
        seen.store(true, ordering: .releasing)
        return true
    }

    /// Whether an operation has seen the cancellation, and will end by itself.
    package var isSeen: Bool { seen.load(ordering: .acquiring) }

    /// A descriptor that becomes readable once it is cancelled, and is never read; -1 if the process has none left.
    package var descriptor: Int32 {
        let known = counter.load(ordering: .acquiring)
        guard known < 0 else { return known }
        let new = ykit_event_counter()
        guard new >= 0 else { return -1 }
        let (isFirst, other) = counter.compareExchange(
            expected: -1, desired: new, ordering: .sequentiallyConsistent)
        guard isFirst else {
            close(new)
            return other
        }
        if flag.load(ordering: .sequentiallyConsistent) { ykit_count_event(new) }
        return new
    }
}
