// SPDX-License-Identifier: Apache-2.0

/// The pace of reports to the host: the kernel keeps 64 that a program has not read, and drops all others without an
/// error, so that a long message leaves after its first reports no faster than a slow program reads.
package struct ReportPace {
    /// How many reports are sent without a pause.
    package static let burst = 32
    /// The time between later ones; a key on the USB needs at least a millisecond for each.
    package static let interval = Duration.milliseconds(2)

    private var left = burst
    private var since: ContinuousClock.Instant

    /// Begins with a full burst.
    package init(at now: ContinuousClock.Instant) { since = now }

    /// Counts a report that is sent; returns whether it may be.
    package mutating func takes(at now: ContinuousClock.Instant) -> Bool {
        while left < Self.burst, since.duration(to: now) >= Self.interval {
            left += 1
            since += Self.interval
        }
        if left == Self.burst { since = now }
        guard left > 0 else { return false }
        left -= 1
        return true
    }

    /// Allows a full burst: the host has sent a report, which it does once it has read the answer before.
    package mutating func refill() { left = Self.burst }

    /// The time until the next report may be sent.
    package func pause(at now: ContinuousClock.Instant) -> Duration {
        left > 0 ? .zero : max(.zero, Self.interval - since.duration(to: now))
    }
}
