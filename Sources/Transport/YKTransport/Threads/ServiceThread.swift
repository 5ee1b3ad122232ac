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
        core.add(Core.Work(job: UnownedJob(job), executor: asUnownedSerialExecutor()))
    }

    private final class Core: Sendable {
        struct Work {
            let job: UnownedJob
            let executor: UnownedSerialExecutor
        }

        private struct State {
            var work: [Work] = []
            var isStopped = false
        }

        private let state = Mutex(State())
        private let wake = Semaphore()

        func add(_ work: Work) {
            state.withLock { $0.work.append(work) }
            wake.post()
        }

        func stop() {
            state.withLock { $0.isStopped = true }
            wake.post()
        }

        func run() {
            while true {
                wake.wait()
                let (next, isStopped) = state.withLock { state in
                    (state.work.isEmpty ? nil : state.work.removeFirst(), state.isStopped)
                }
                if let next { next.job.runSynchronously(on: next.executor) } else if isStopped { return }
            }
        }
    }
}
