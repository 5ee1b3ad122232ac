// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import YKTransport

/// Ends a process that continues computing after ^C, such as a key derivation, which does not check for cancellation.
///
/// From the first ^C on, a timer checks the process. It is ended if nothing has noticed the cancellation, it uses the
/// processor, and there is nothing to clean up: no open connection to a key and no file under a temporary name. A
/// prompt, which has turned echo off, is waiting and notices the cancellation immediately.
package enum ComputationEnd {
    /// The time from ^C to the first check, and between later ones, in microseconds.
    private static let first = 120_000
    private static let next = 20_000
    /// The processor time above which a process counts as computing, in nanoseconds.
    private static let computing: UInt64 = 10_000_000

    /// The processor time of the process at the first ^C, in nanoseconds.
    private static let used = Atomic<UInt64>(0)
    /// The output at the end: its address, its size and its destination.
    private static let words = Atomic<UInt>(0)
    private static let count = Atomic<Int>(0)
    private static let descriptor = Atomic<Int32>(2)

    /// Sets what is written if the process is ended: a line on standard error, or the answer on standard output.
    package static func say(_ text: String, to output: Int32) {
        let bytes = Array(text.utf8)
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
        memory.initialize(from: bytes, count: bytes.count)
        count.store(0, ordering: .releasing)
        descriptor.store(output, ordering: .releasing)
        words.store(UInt(bitPattern: memory), ordering: .releasing)
        count.store(bytes.count, ordering: .releasing)
    }

    /// Installs the timer's handler; initializes what it uses, since that must not happen in a handler.
    package static func prepare() {
        _ = (UnfinishedWork.isNone, used.load(ordering: .relaxed))
        // A terminal may show the progress in its last line.
        say((isatty(2) == 1 ? "\r\u{1B}[K" : "") + "ykit: \(Explanation.interrupted.message)\n", to: 2)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in ComputationEnd.look() }
        action.sa_flags = SA_RESTART
        sigaction(SIGALRM, &action, nil)
    }

    /// Starts checking. Async-signal-safe.
    package static func watch() {
        used.store(Interruption.nanoseconds(CLOCK_PROCESS_CPUTIME_ID), ordering: .releasing)
        look(after: first)
    }

    private static func look(after microseconds: Int) {
        var time = itimerval()
        time.it_value.tv_usec = suseconds_t(microseconds)
        setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &time, nil)
    }

    /// Ends the process if it computes; otherwise checks again later. Async-signal-safe.
    private static func look() {
        guard !Interruption.cancellation.isSeen else { return }
        let sinceThen = Interruption.nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - used.load(ordering: .acquiring)
        guard sinceThen >= computing, UnfinishedWork.isNone else { return look(after: next) }
        if let text = UnsafePointer<UInt8>(bitPattern: words.load(ordering: .acquiring)) {
            _ = write(descriptor.load(ordering: .acquiring), text, count.load(ordering: .acquiring))
        }
        _exit(ExitStatus.interrupted.rawValue)
    }
}
