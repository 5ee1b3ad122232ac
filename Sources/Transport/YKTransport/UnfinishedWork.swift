// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts what a program that ends must first put in order: an open connection to a key, or a file under a temporary
/// name.
///
/// A program that computes and does not look at its ``Cancellation`` can be ended by a signal handler while there is
/// none.
package enum UnfinishedWork {
    private static let count = Atomic<Int>(0)

    /// Whether there is none. Async-signal-safe after the first call.
    package static var isNone: Bool { count.load(ordering: .acquiring) == 0 }

    /// Notes that something must be put in order before the program ends.
    package static func begin() { count.add(1, ordering: .acquiringAndReleasing) }

    /// Notes that it is in order.
    package static func end() { count.subtract(1, ordering: .acquiringAndReleasing) }

    /// Unfinished work for as long as the object lives.
    package final class Hold: Sendable {
        package init() { UnfinishedWork.begin() }

        deinit { UnfinishedWork.end() }
    }
}
