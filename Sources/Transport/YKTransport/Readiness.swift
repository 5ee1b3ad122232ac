// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Waits that something ends: input, a cancellation, or time. Nothing is looked for in the meantime.
package enum Readiness {
    /// How often a cancellation is looked for if the process has no descriptor left for it, in milliseconds.
    private static let round: Int32 = 100

    /// Waits until one of the descriptors has input or no other end, one of the cancellations happens, or the time is
    /// over.
    ///
    /// - Parameters:
    ///   - descriptors: Negative ones are never ready.
    ///   - cancellations: What else ends the wait.
    ///   - limit: The longest wait; `nil` for no limit.
    /// - Returns: For each descriptor whether it is ready. All are `false` also after a signal.
    @discardableResult package static func wait(
        for descriptors: [Int32], until cancellations: [Cancellation] = [], atMost limit: Duration? = nil
    ) -> [Bool] {
        let ends = cancellations.map(\.descriptor)
        var entries = (descriptors + ends).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var time = limit.map { Deadline.after($0).milliseconds() } ?? -1
        if ends.contains(where: { $0 < 0 }) { time = time < 0 ? Self.round : min(time, Self.round) }
        guard poll(&entries, nfds_t(entries.count), time) > 0 else { return descriptors.map { _ in false } }
        return entries.prefix(descriptors.count).map { $0.revents != 0 }
    }
}
