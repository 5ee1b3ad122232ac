// SPDX-License-Identifier: Apache-2.0

import CThreads
import Glibc
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

/// A thread of the operating system, for blocking work.
package enum SystemThread {
    private final class Start: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Starts a thread that runs `body` and ends; returns false when the system cannot create a thread.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let start = Unmanaged.passRetained(Start(body))
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { start in
                guard let start else { return nil }
                Unmanaged<Start>.fromOpaque(start).takeRetainedValue().body()
                return nil
            }, start.toOpaque())
        guard failure == 0 else {
            start.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}

/// Work on a thread of its own: what this machine does while a key answers, such as loading a library, or what cannot be
/// interrupted, such as the derivation of a key.
package final class WorkBeside<Value: Sendable>: Sendable {
    private let outcome = Mutex<Value?>(nil)
    private let isDone = Semaphore()

    /// Starts the work; if the system creates no thread, it is done here.
    ///
    /// - Parameters:
    ///   - turns: How often other threads run first. A short run has one processor: two turns let the service, and what calls
    ///     the smart card service for it, send the command that the key then works on.
    ///   - body: The work, which has to end by itself some time.
    package init(after turns: Int = 0, _ body: @escaping @Sendable () -> Value) {
        let work: @Sendable () -> Void = { [self] in
            let value = body()
            outcome.withLock { $0 = value }
            isDone.post()
        }
        let isStarted = SystemThread.start {
            for _ in 0..<turns { sched_yield() }
            work()
        }
        if !isStarted { work() }
    }

    /// Waits until the work is done. To be called once.
    ///
    /// - Parameter cancellation: Ends the wait within a few hundredths of a second. The thread then continues alone, and its
    ///   result is dropped.
    /// - Returns: The result; `nil` if the operation was cancelled.
    package func end(unless cancellation: Cancellation? = nil) -> Value? {
        guard let cancellation else {
            isDone.wait()
            return outcome.withLock { $0 }
        }
        while !isDone.wait(milliseconds: 20) {
            if cancellation.isCancelled { return nil }
        }
        return outcome.withLock { $0 }
    }

    /// Does the work, and waits for it unless the operation is cancelled, even before it starts.
    package static func result(unless cancellation: Cancellation, _ body: @escaping @Sendable () -> Value) -> Value? {
        cancellation.isCancelled ? nil : WorkBeside(body).end(unless: cancellation)
    }
}

/// A counting semaphore of the operating system.
package final class Semaphore: Sendable {
    nonisolated(unsafe) private let semaphore: UnsafeMutablePointer<sem_t>

    package init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    package func post() { sem_post(semaphore) }

    package func wait() { while sem_wait(semaphore) != 0 {} }

    /// Waits for a post; returns `false` on timeout.
    package func wait(milliseconds: Int32) -> Bool { ykit_semaphore_wait(semaphore, milliseconds) == 0 }
}

/// Runs a closure after a delay, unless it is cancelled first.
package struct Alarm: Sendable {
    /// Cancels the closure if it has not started.
    package typealias Cancel = @Sendable () -> Void

    /// Starts the delay, and returns at once.
    package let set: @Sendable (Duration, @escaping @Sendable () -> Void) -> Cancel

    package init(_ set: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Cancel) { self.set = set }

    /// Starts a thread for each delay: a task that sleeps would start three, Swift's pool, its manager and its timer.
    package static let threads = Alarm { delay, body in
        let isOver = Semaphore()
        _ = SystemThread.start {
            if !isOver.wait(milliseconds: Deadline.after(delay).milliseconds()) { body() }
        }
        return { isOver.post() }
    }

    /// Sleeps, at most until the task is cancelled.
    package func sleep(_ time: Duration) async {
        let sleep = Sleep()
        let cancel = set(time) { sleep.end() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { sleep.begin($0) }
        } onCancel: {
            sleep.end()
        }
        cancel()
    }

    private final class Sleep: Sendable {
        private let state = Mutex((isOver: false, sleeper: CheckedContinuation<Void, Never>?.none))

        func begin(_ sleeper: CheckedContinuation<Void, Never>) {
            let isOver = state.withLock { state in
                if !state.isOver { state.sleeper = sleeper }
                return state.isOver
            }
            if isOver { sleeper.resume() }
        }

        func end() {
            let sleeper = state.withLock { state in
                defer { state = (true, nil) }
                return state.sleeper
            }
            sleeper?.resume()
        }
    }
}

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
