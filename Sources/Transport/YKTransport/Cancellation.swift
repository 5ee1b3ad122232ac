// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A switch that stops what waits under it. Once thrown it stays thrown.
public final class Cancellation: Sendable {
    private let flag = Atomic<Bool>(false)

    /// Makes a switch that is not thrown.
    public init() {}

    /// Throws the switch: waits end with `LinkError.cancelled` at their next look.
    public func cancel() { flag.store(true, ordering: .releasing) }

    /// Whether the switch was thrown.
    public var isCancelled: Bool { flag.load(ordering: .acquiring) }
}
