// SPDX-License-Identifier: Apache-2.0

package import Glibc
import Synchronization
package import YKTransport

/// Handles ^C: the first one cancels the running operation, which leaves the key in a consistent state; the second one
/// exits. Signals that arrive together count as one, since timeout(1) sends its signal to the process and to its group.
///
/// A computation does not check for cancellation. If the process continues computing and there is nothing to clean up,
/// it is ended soon after the first ^C.
package enum Interruption {
    /// Cancelled by ^C.
    package static let cancellation = Cancellation()

    /// How long after a signal another one counts as the same, in nanoseconds.
    private static let same: UInt64 = 300_000_000

    /// When the first signal arrived, by the monotonic clock in nanoseconds; 0 before it.
    private static let arrival = Atomic<UInt64>(0)

    /// The write end of the pipe that wakes a prompt, which polls it along with the terminal; -1 without a prompt.
    private static let wake = Atomic<Int32>(-1)

    /// Whether ^C was pressed.
    package static var happened: Bool { cancellation.isCancelled }

    /// Installs the signal handlers, unblocks their signals, and turns SIGPIPE and SIGXFSZ into write errors. A hang-up
    /// that is ignored, as under nohup, stays ignored.
    package static func install() {
        ComputationEnd.prepare()
        _ = (cancellation, arrival.load(ordering: .relaxed))
        wakePrompt()
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        var handled = sigset_t()
        sigemptyset(&handled)
        for number in [SIGINT, SIGTERM, SIGQUIT, SIGHUP] {
            sigaddset(&handled, number)
            if number == SIGHUP, isIgnored(number) { continue }
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in Interruption.arrived() }
            sigaction(number, &action, nil)
        }
        // A program that waits for signals in a thread of its own starts others with these blocked.
        pthread_sigmask(SIG_UNBLOCK, &handled, nil)
    }

    /// Handles a signal. Async-signal-safe.
    private static func arrived() {
        let now = nanoseconds(CLOCK_MONOTONIC)
        let (isFirst, first) = arrival.compareExchange(expected: 0, desired: now, ordering: .acquiringAndReleasing)
        guard isFirst else {
            if !isSame(now, as: first) { _exit(ExitStatus.interrupted.rawValue) }
            return
        }
        cancellation.cancel()
        wakePrompt()
        ComputationEnd.watch()
    }

    /// Whether a signal that arrives now belongs to the first one, by the monotonic clock in nanoseconds.
    package static func isSame(_ now: UInt64, as first: UInt64) -> Bool { now - min(now, first) < same }

    /// The time of a clock in nanoseconds. Async-signal-safe.
    package static func nanoseconds(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Whether a signal is ignored, which the parent process may have arranged.
    static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        return action.__sigaction_handler.sa_handler.map { unsafeBitCast($0, to: Int.self) } == 1
    }

    /// Wakes the prompt, if there is one. Async-signal-safe.
    static func wakePrompt() {
        let descriptor = wake.load(ordering: .acquiring)
        guard descriptor >= 0 else { return }
        let number = errno
        var byte: UInt8 = 0
        _ = write(descriptor, &byte, 1)
        errno = number
    }

    /// Calls `body` with a descriptor that becomes readable when a signal arrives.
    package static func awake<Value: ~Copyable>(_ body: (Int32) throws -> Value) throws -> Value {
        let pipe = try WakePipe()
        let before = wake.exchange(pipe.output, ordering: .acquiringAndReleasing)
        defer {
            wake.store(before, ordering: .releasing)
            withExtendedLifetime(pipe) {}
        }
        return try body(pipe.input)
    }
}

/// ^Z at a prompt and `fg` after it.
///
/// Shells restore their own terminal modes when a job stops, but need not restore the job's modes afterwards. A prompt
/// therefore resets the terminal before it stops, and turns echo off again once it continues.
enum Suspension {
    private static let isStopped = Atomic<Bool>(false)
    private static let isContinued = Atomic<Bool>(false)

    /// Whether ^Z was pressed since the last check.
    static var wasRequested: Bool { isStopped.exchange(false, ordering: .acquiringAndReleasing) }
    /// Whether the process was continued since the last check.
    static var hasEnded: Bool { isContinued.exchange(false, ordering: .acquiringAndReleasing) }

    /// Calls `body` while SIGTSTP and SIGCONT wake the prompt. If the shell ignores SIGTSTP, it stays ignored.
    static func watching<Value: ~Copyable>(_ body: () throws -> Value) rethrows -> Value {
        _ = (wasRequested, hasEnded)
        var stop = sigaction()
        var resume = sigaction()
        sigaction(SIGTSTP, nil, &stop)
        sigaction(SIGCONT, nil, &resume)
        if !Interruption.isIgnored(SIGTSTP) { catchStop() }
        var caught = sigaction()
        caught.__sigaction_handler.sa_handler = { _ in
            Suspension.isContinued.store(true, ordering: .releasing)
            Interruption.wakePrompt()
        }
        sigaction(SIGCONT, &caught, nil)
        defer {
            sigaction(SIGTSTP, &stop, nil)
            sigaction(SIGCONT, &resume, nil)
        }
        return try body()
    }

    private static func catchStop() {
        var caught = sigaction()
        caught.__sigaction_handler.sa_handler = { _ in
            Suspension.isStopped.store(true, ordering: .releasing)
            Interruption.wakePrompt()
        }
        sigaction(SIGTSTP, &caught, nil)
    }

    /// Stops the process as ^Z does, until it is continued.
    ///
    /// Another thread may handle the signal a moment later, and a process group without a shell never stops, so this
    /// waits for SIGCONT, but only briefly.
    static func stop(_ wake: Int32) {
        var saved = sigaction()
        sigaction(SIGTSTP, nil, &saved)
        signal(SIGTSTP, SIG_DFL)
        kill(getpid(), SIGTSTP)
        for _ in 0..<10 where !isContinued.load(ordering: .acquiring) {
            var event = pollfd(fd: wake, events: Int16(POLLIN), revents: 0)
            _ = poll(&event, 1, 20)
        }
        sigaction(SIGTSTP, &saved, nil)
    }
}

extension Interruption {
    /// Sleeps until a time in seconds since 1970, ^C, or until the reader of the results closes its end, which ends the
    /// program.
    package static func sleep(until end: Int64) throws {
        while true {
            if happened { throw Explanation.interrupted }
            var now = timespec()
            clock_gettime(CLOCK_REALTIME, &now)
            // time(2) advances up to one tick later than this clock.
            let left = (end - Int64(now.tv_sec)) * 1000 - Int64(now.tv_nsec) / 1_000_000 + 20
            if left <= 0 { return }
            var reader = pollfd(fd: 1, events: 0, revents: 0)
            _ = poll(&reader, 1, Int32(clamping: min(left, 60_000)))
            if reader.revents & Int16(POLLERR) != 0 { ExitStatus.done.end() }
        }
    }
}

/// A pipe that wakes a prompt, which polls it along with the terminal; closed at the end of its life.
final class WakePipe: Sendable {
    /// The end that becomes readable.
    let input: Int32
    /// The end that is written to.
    let output: Int32

    /// - Throws: `Explanation` if the process has no descriptor left.
    init() throws(Explanation) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw Explanation("failed", .failed, "cannot make a pipe: \(System.failure)")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (input, output) = (ends[0], ends[1])
    }

    deinit {
        close(input)
        close(output)
    }
}
