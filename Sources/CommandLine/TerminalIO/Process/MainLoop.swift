// SPDX-License-Identifier: Apache-2.0

import CThreads
import Synchronization
import YKHardware
package import YKTransport

/// Runs the program's tasks on the main thread. Swift's default executor first starts a thread pool, which takes longer
/// than most verbs. `YKIT_TASKS=pool` selects the pool, for `tools/bench/hacks`, which measures both.
package final class MainLoop: TaskExecutor {
    /// The loop of this process.
    package static let current = MainLoop()

    private struct Timer {
        let id: Int
        let due: ContinuousClock.Instant
        let body: @Sendable () -> Void
    }

    private struct Work {
        var jobs: [UnownedJob] = []
        var timers: [Timer] = []
        var lastID = 0
        /// Whether this is a long run: the loop then waits only for work, and must be woken for a new timer.
        var isLong = false

        /// The timer that is due first.
        var first: Int? { timers.indices.min { timers[$0].due < timers[$1].due } }
    }

    private let work = Mutex(Work())
    private let wake = Semaphore()
    private let result = Mutex<ExitStatus?>(nil)

    /// Runs closures on the main thread after a delay.
    package var alarm: Alarm { Alarm { self.add(after: $0, $1) } }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        work.withLock { $0.jobs.append(job) }
        wake.post()
    }

    private func add(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> Alarm.Cancel {
        let due = ContinuousClock.now.advanced(by: delay)
        let (id, isLong) = work.withLock { work in
            work.lastID += 1
            work.timers.append(Timer(id: work.lastID, due: due, body: body))
            return (work.lastID, work.isLong)
        }
        if isLong { wake.post() }
        return { self.work.withLock { work in work.timers.removeAll { $0.id == id } } }
    }

    /// Runs `body` and the tasks it starts until `body` returns.
    package func run(_ body: @escaping @Sendable () async -> ExitStatus) -> ExitStatus {
        OneProcessor.keep()
        Task(executorPreference: ProcessVariables["YKIT_TASKS"] == "pool" ? nil : self) { self.end(await body()) }
        return loop()
    }

    private func end(_ status: ExitStatus) {
        result.withLock { $0 = status }
        wake.post()
    }

    private func loop() -> ExitStatus {
        while true {
            let isLong = work.withLock { $0.isLong }
            if !wake.wait(milliseconds: isLong ? untilTimer : OneProcessor.milliseconds), !isLong {
                work.withLock { $0.isLong = true }
                OneProcessor.leave()
            }
            if let job = work.withLock({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) {
                job.runSynchronously(on: asUnownedTaskExecutor())
            }
            while let body = takeDue() { body() }
            if let status = result.withLock({ $0 }) { return status }
        }
    }

    /// The time until the first timer, in milliseconds.
    private var untilTimer: Int32 {
        work.withLock { work in
            guard let first = work.first else { return .max }
            return Deadline.after(ContinuousClock.now.duration(to: work.timers[first].due)).milliseconds()
        }
    }

    /// Removes and returns the first timer that is due.
    private func takeDue() -> (@Sendable () -> Void)? {
        work.withLock { work in
            guard let first = work.first, work.timers[first].due <= .now else { return nil }
            return work.timers.remove(at: first).body
        }
    }
}

/// Keeps the threads of a short run on one processor, with one heap.
///
/// The main thread, the thread of a service, and the thread that calls pcscd hand the work to each other and never run
/// at the same time. Waking a thread on another, idle processor takes longer than switching to it, and each thread
/// would begin its own heap: together 5 to 13 % of a run over PC/SC. `YKIT_PROCESSORS=all` leaves both as they are, for
/// `tools/bench/hacks`.
package enum OneProcessor {
    /// How long the threads may first wait before the run no longer counts as short.
    package static let milliseconds: Int32 = 50

    /// Begins a run.
    package static func keep() {
        guard ProcessVariables["YKIT_PROCESSORS"] != "all" else { return }
        ykit_share_heap()
        ykit_keep_processor()
    }

    /// Lets all threads use all processors, for a long run. A verb that keeps the main thread busy for a long time
    /// calls it itself. Before another program is started, `ChildProcess` does the same.
    package static func leave() { ykit_leave_processor() }
}
