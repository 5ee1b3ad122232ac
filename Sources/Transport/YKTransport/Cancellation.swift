// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Cancels the operations that wait under it. Cancellation is permanent.
public final class Cancellation: Sendable {
    private let flag = Atomic<Bool>(false)

    /// Creates a token that has not been cancelled.
    public init() {}

    /// Cancels: waits end with `LinkError.cancelled` when they next check.
    public func cancel() { flag.store(true, ordering: .releasing) }

    /// Whether it has been cancelled.
    public var isCancelled: Bool { flag.load(ordering: .acquiring) }
}
