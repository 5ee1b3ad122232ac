// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKTransport

/// A thread that makes the PC/SC calls of one session, so that callers can stop waiting for them.
///
/// A worker whose call does not return in time is abandoned: it is no longer used, and cleans up and ends by itself as
/// soon as the call returns. The memory used by a call belongs to the thread, so it is not freed during the call.
final class PCSCWorker: Sendable {
    typealias Job = @Sendable (PCSCSession) -> Void

    private struct State {
        var jobs: [Job] = []
        /// What to do with the card at the end; set when the worker has to end.
        var finalDisposition: Disposition?
    }

    /// The interval for checking for cancellation while waiting, in milliseconds.
    private static let slice: Int32 = 20

    private let state = Mutex(State())
    private let work = Semaphore()
    private let done = Semaphore()

    /// Starts the thread; throws when the system cannot create one.
    static func start(_ library: PCSCLibrary) throws(LinkError) -> PCSCWorker {
        let worker = PCSCWorker()
        guard SystemThread.start({ worker.live(PCSCSession(library: library)) }) else {
            throw .failed(code: 0, "no thread for the smart card service")
        }
        return worker
    }

    private init() {}

    /// Runs `body` on the thread and waits for it. When the deadline expires or the operation is cancelled, abandons
    /// the worker, disposes of the card with `finalDisposition` once the call returns, and throws `timedOut` or `cancelled`.
    func run<Value: Sendable>(
        _ doing: String, _ deadline: Deadline, finalDisposition: Disposition = .leave,
        _ body: @escaping @Sendable (PCSCSession) -> Value
    ) throws(LinkError) -> Value {
        try deadline.check(doing)
        // Written before `done` is posted, read after; an abandoned call writes it, and nobody reads it.
        nonisolated(unsafe) var answer: Value?
        post { [done] session in
            answer = body(session)
            done.post()
        }
        var isLast = false
        while !done.wait(milliseconds: isLast ? 0 : deadline.milliseconds(limit: Self.slice)) {
            if isLast {
                abandon(finalDisposition)
                throw deadline.isCancelled ? .cancelled : .timedOut(doing)
            }
            isLast = deadline.isCancelled || deadline.isOver
        }
        guard let value = answer else { throw .failed(code: 0, "the worker gave no answer") }
        return value
    }

    /// Runs `job` on the thread after the jobs already queued, without waiting for it.
    func post(_ job: @escaping Job) {
        state.withLock { $0.jobs.append(job) }
        work.post()
    }

    /// Whether the worker must no longer be used.
    var isAbandoned: Bool { state.withLock { $0.finalDisposition != nil } }

    /// Ends the thread once its work is done.
    func finish() { end(.leave) }

    private func abandon(_ finalDisposition: Disposition) {
        StuckCalls.add()
        post { _ in StuckCalls.remove() }
        end(finalDisposition)
    }

    private func end(_ finalDisposition: Disposition) {
        state.withLock { $0.finalDisposition = finalDisposition }
        work.post()
    }

    private func live(_ session: PCSCSession) {
        while true {
            work.wait()
            let (job, finalDisposition) = state.withLock { state in
                (state.jobs.isEmpty ? nil : state.jobs.removeFirst(), state.finalDisposition)
            }
            if let job {
                job(session)
            } else if let finalDisposition {
                session.disconnect(finalDisposition)
                session.forget()
                return
            }
        }
    }
}

/// The number of abandoned calls still pending in this process: a hanging service must not accumulate threads without
/// limit.
enum StuckCalls {
    static let limit = 8
    private static let count = Atomic<Int>(0)

    static var isFull: Bool { count.load(ordering: .acquiring) >= limit }
    static func add() { count.add(1, ordering: .acquiringAndReleasing) }
    static func remove() { count.subtract(1, ordering: .acquiringAndReleasing) }
}
