// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A serial executor with its own thread: a service actor blocks here, never in Swift's shared thread pool.
package final class ServiceThread: SerialExecutor {
    private let core = Core()

    /// Starts the thread; it ends when the executor is released.
    ///
    /// - Throws: `failed` when the system cannot create a thread.
    package init() throws(LinkError) {
        guard SystemThread.start({ [core] in core.run() }) else {
            throw .failed(code: 0, "no thread for the service: the system has none left for this user")
        }
    }

    deinit { core.stop() }

    /// Puts a job at the end of the queue.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        core.add { job.runSynchronously(on: executor) }
    }

    private final class Core: Sendable {
        private struct State {
            var jobs: [@Sendable () -> Void] = []
            var isStopped = false
        }

        private let state = Mutex(State())
        private let wake = Semaphore()

        func add(_ job: @escaping @Sendable () -> Void) {
            state.withLock { $0.jobs.append(job) }
            wake.post()
        }

        func stop() {
            state.withLock { $0.isStopped = true }
            wake.post()
        }

        func run() {
            while true {
                wake.wait()
                let (job, isStopped) = state.withLock { state in
                    (state.jobs.isEmpty ? nil : state.jobs.removeFirst(), state.isStopped)
                }
                if let job { job() } else if isStopped { return }
            }
        }
    }
}
