// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The deadline and cancellation of an operation, passed down through every layer.
public struct Deadline: Sendable {
    private let expires: ContinuousClock.Instant
    private let cancellation: Cancellation?

    /// A hundred years: a duration from a user or a file must not overflow the clock.
    private static let longest = Duration.seconds(100 * 366 * 86400)

    /// Ends `duration` from now. With a cancellation it also ends when that, or the current task, is cancelled. Without
    /// one it ends only when the time has elapsed, as required for cleaning up after a cancellation.
    public static func after(_ duration: Duration, cancellation: Cancellation? = nil) -> Deadline {
        Deadline(expires: .now.advanced(by: min(duration, longest)), cancellation: cancellation)
    }

    /// Returns the earlier of both deadlines.
    public func earlier(_ other: Deadline?) -> Deadline {
        guard let other, other.expires < expires else { return self }
        return other
    }

    /// The time left; zero when it has expired.
    public var remaining: Duration { max(.zero, ContinuousClock.now.duration(to: expires)) }

    /// Whether the deadline has expired.
    public var isOver: Bool { remaining == .zero }

    /// Whether the operation was cancelled.
    public var isCancelled: Bool { cancellation.map { $0.isCancelled || Task.isCancelled } ?? false }

    /// Throws `cancelled` or `timedOut` unless there is time left.
    public func check(_ doing: @autoclosure () -> String) throws(LinkError) {
        if isCancelled { throw .cancelled }
        if isOver { throw .timedOut(doing()) }
    }

    /// The time left in milliseconds, rounded up, at most `limit`.
    public func milliseconds(limit: Int32 = .max) -> Int32 {
        let (seconds, attoseconds) = remaining.components
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        guard seconds < Int64(Int32.max) / 1000 else { return limit }
        return min(limit, Int32(truncatingIfNeeded: seconds * 1000 + fraction))
    }
}

/// Waiting in small steps, so that a deadline or a cancellation ends it.
package enum Pause {
    /// Sleeps for at most `duration` and not beyond the deadline.
    package static func system(_ duration: Duration, _ deadline: Deadline) {
        let end = ContinuousClock.now.advanced(by: duration)
        while !deadline.isOver, !deadline.isCancelled {
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else { return }
            step(deadline, atMost: Deadline.after(left).milliseconds(limit: 10))
        }
    }

    /// One step of at most ten milliseconds.
    package static func step(_ deadline: Deadline, atMost limit: Int32 = 10) {
        _ = poll(nil, 0, max(1, deadline.milliseconds(limit: limit)))
    }

    /// Waits for `duration`, for ever without one, or until the deadline ends it by throwing.
    package static func wait(
        _ duration: Duration?, _ deadline: Deadline, _ doing: String
    ) throws(LinkError) {
        if duration == .zero { return }
        let end = duration.map { ContinuousClock.now.advanced(by: $0) }
        while end.map({ ContinuousClock.now < $0 }) ?? true {
            try deadline.check(doing)
            step(deadline)
        }
    }

    /// Tries until there is a value, or the deadline ends it by throwing.
    package static func until<Value>(
        _ deadline: Deadline, _ doing: String, _ body: () throws(LinkError) -> Value?
    ) throws(LinkError) -> Value {
        while true {
            if let value = try body() { return value }
            try deadline.check(doing)
            step(deadline)
        }
    }
}
