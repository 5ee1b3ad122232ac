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
