// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A serial executor with a thread of its own: a service actor blocks here, never in Swift's shared thread pool.
public final class ServiceThread: SerialExecutor {
    private let core = Core()

    /// Starts the thread; it ends when the executor goes away.
    public init() { core.start() }

    deinit { core.stop() }

    /// Puts a job at the end of the queue.
    public func enqueue(_ job: consuming ExecutorJob) {
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
        nonisolated(unsafe) private let wake: UnsafeMutablePointer<sem_t>

        init() {
            wake = .allocate(capacity: 1)
            sem_init(wake, 0, 0)
        }

        deinit {
            sem_destroy(wake)
            wake.deallocate()
        }

        func start() {
            var thread = pthread_t()
            let argument = Unmanaged.passRetained(self).toOpaque()
            let failure = pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    Unmanaged<Core>.fromOpaque(argument).takeRetainedValue().run()
                    return nil
                }, argument)
            precondition(failure == 0, "no thread for a service: \(failure)")
            pthread_detach(thread)
        }

        func add(_ job: @escaping @Sendable () -> Void) {
            state.withLock { $0.jobs.append(job) }
            sem_post(wake)
        }

        func stop() {
            state.withLock { $0.isStopped = true }
            sem_post(wake)
        }

        private func run() {
            while true {
                while sem_wait(wake) != 0 {}
                let (job, isStopped) = state.withLock { state in
                    (state.jobs.isEmpty ? nil : state.jobs.removeFirst(), state.isStopped)
                }
                if let job { job() } else if isStopped { return }
            }
        }
    }
}
