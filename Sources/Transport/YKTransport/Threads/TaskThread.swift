// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Runs tasks on one thread, which waits for work without waking up. Swift's own pool looks at its threads once a second,
/// from its first task to the end of the process.
///
/// A task must not block it.
package final class TaskThread: TaskExecutor {
    /// The thread of this process; it is started by the first task.
    package static let shared = TaskThread()

    private let state = Mutex((jobs: [UnownedJob](), isStarted: false))
    private let wake = Semaphore()

    private init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFirst = state.withLock { state in
            state.jobs.append(job)
            defer { state.isStarted = true }
            return !state.isStarted
        }
        wake.post()
        guard isFirst, !SystemThread.start({ [self] in run() }) else { return }
        // No thread: the job runs here, and the next one tries again.
        state.withLock { $0.isStarted = false }
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func next() -> UnownedJob? { state.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() } }

    private func run() {
        while true {
            wake.wait()
            if let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
}
