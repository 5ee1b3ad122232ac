// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKTransport

/// Runs the program's tasks on the main thread. Swift's default executor first starts a thread pool, which takes longer
/// than most verbs. `YKIT_TASKS=pool` selects the pool, for `tools/bench/hacks`, which measures both.
final class MainLoop: TaskExecutor {
    private let jobs = Mutex<[@Sendable () -> Void]>([])
    private let wake = Semaphore()
    private let result = Mutex<ExitStatus?>(nil)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        add { job.runSynchronously(on: executor) }
    }

    private func add(_ job: @escaping @Sendable () -> Void) {
        jobs.withLock { $0.append(job) }
        wake.post()
    }

    /// Runs `body` and the tasks it starts until `body` returns.
    func run(_ body: @escaping @Sendable () async -> ExitStatus) -> ExitStatus {
        OneProcessor.keep()
        Task(executorPreference: Variables["YKIT_TASKS"] == "pool" ? nil : self) { self.end(await body()) }
        return loop()
    }

    private func end(_ status: ExitStatus) {
        result.withLock { $0 = status }
        wake.post()
    }

    private func loop() -> ExitStatus {
        while true {
            if !wake.wait(milliseconds: OneProcessor.milliseconds) {
                OneProcessor.leave()
                wake.wait()
            }
            while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
                job()
            }
            if let status = result.withLock({ $0 }) { return status }
        }
    }
}
