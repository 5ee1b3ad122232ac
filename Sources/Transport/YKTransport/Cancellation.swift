// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Cancels the operations that wait under it. Cancellation is permanent.
public final class Cancellation: Sendable {
    private let flag = Atomic<Bool>(false)
    private let seen = Atomic<Bool>(false)

    /// Creates a token that has not been cancelled.
    public init() {}

    /// Cancels: waits end with `LinkError.cancelled` when they next check.
    public func cancel() { flag.store(true, ordering: .releasing) }

    /// Whether it has been cancelled.
    public var isCancelled: Bool {
        guard flag.load(ordering: .acquiring) else { return false }
        seen.store(true, ordering: .releasing)
        return true
    }

    /// Whether an operation has seen the cancellation, and will end by itself.
    package var isSeen: Bool { seen.load(ordering: .acquiring) }
}
