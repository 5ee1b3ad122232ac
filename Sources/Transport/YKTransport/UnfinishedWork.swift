// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts the work that a program must finish before it ends: an open connection to a key, or a file under a temporary
/// name.
///
/// While there is none, a signal handler can end a program that computes without checking its ``Cancellation``.
package enum UnfinishedWork {
    private static let count = Atomic<Int>(0)

    /// Whether there is none. Async-signal-safe after the first call.
    package static var isNone: Bool { count.load(ordering: .acquiring) == 0 }

    /// Notes that there is work to finish before the program ends.
    package static func begin() { count.add(1, ordering: .acquiringAndReleasing) }

    /// Notes that the work is finished.
    package static func end() { count.subtract(1, ordering: .acquiringAndReleasing) }

    /// Unfinished work for as long as the object lives.
    package final class Hold: Sendable {
        package init() { UnfinishedWork.begin() }

        deinit { UnfinishedWork.end() }
    }
}
