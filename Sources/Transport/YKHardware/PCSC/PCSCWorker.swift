// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKTransport

/// A thread that makes the PC/SC calls of one session, so that whoever waits for them can stop waiting.
///
/// A worker whose call did not end in time is abandoned: nobody waits for it or uses it any more, and it cleans up and
/// ends by itself as soon as the call returns. What a call works with belongs to the thread, so nothing is freed under
/// it.
final class PCSCWorker: Sendable {
    typealias Job = @Sendable (PCSCSession) -> Void

    private struct State {
        var jobs: [Job] = []
        /// What is done to the card at the end; set when the worker has to end.
        var lastWish: Disposition?
    }

    /// How many milliseconds a wait goes on before it looks whether it was called off.
    private static let slice: Int32 = 20

    private let state = Mutex(State())
    private let work = Semaphore()
    private let done = Semaphore()

    /// Starts the thread; throws when the system has none to give.
    static func start(_ library: PCSCLibrary) throws(LinkError) -> PCSCWorker {
        let worker = PCSCWorker()
        guard SystemThread.start({ worker.live(PCSCSession(library: library)) }) else {
            throw .failed(code: 0, "no thread for the smart card service")
        }
        return worker
    }

    private init() {}

    /// Runs `body` on the thread and waits for it; when the deadline is over or the work called off, the worker is
    /// abandoned, `lastWish` is done to the card once the call ended, and `timedOut` or `cancelled` is thrown.
    func run<Value: Sendable>(
        _ doing: String, _ deadline: Deadline, lastWish: Disposition = .leave,
        _ body: @escaping @Sendable (PCSCSession) -> Value
    ) throws(LinkError) -> Value {
        try deadline.check(doing)
        let answer = Answer<Value>()
        post { [done] session in
            answer.value = body(session)
            done.post()
        }
        var isLast = false
        while !done.wait(milliseconds: isLast ? 0 : deadline.milliseconds(limit: Self.slice)) {
            if isLast {
                abandon(lastWish)
                throw deadline.isCancelled ? .cancelled : .timedOut(doing)
            }
            isLast = deadline.isCancelled || deadline.isOver
        }
        guard let value = answer.value else { throw .failed(code: 0, "the worker gave no answer") }
        return value
    }

    /// Runs `job` on the thread after what is there already, without waiting for it.
    func post(_ job: @escaping Job) {
        state.withLock { $0.jobs.append(job) }
        work.post()
    }

    /// Whether nobody may use the worker any more.
    var isAbandoned: Bool { state.withLock { $0.lastWish != nil } }

    /// Ends the thread once its work is done.
    func finish() { end(.leave) }

    private func abandon(_ lastWish: Disposition) {
        StuckCalls.add()
        post { _ in StuckCalls.remove() }
        end(lastWish)
    }

    private func end(_ lastWish: Disposition) {
        state.withLock { $0.lastWish = lastWish }
        work.post()
    }

    private func live(_ session: PCSCSession) {
        while true {
            work.wait()
            let (job, lastWish) = state.withLock { state in
                (state.jobs.isEmpty ? nil : state.jobs.removeFirst(), state.lastWish)
            }
            if let job {
                job(session)
            } else if let lastWish {
                session.disconnect(lastWish)
                session.forget()
                return
            }
        }
    }
}

/// Where a worker leaves what it was asked for; written before `done` is posted, read after.
private final class Answer<Value: Sendable>: @unchecked Sendable {
    var value: Value?
}

/// How many calls somebody stopped waiting for are still under way in this process: a service that hangs must not
/// collect threads without end.
enum StuckCalls {
    static let limit = 8
    private static let count = Atomic<Int>(0)

    static var isFull: Bool { count.load(ordering: .acquiring) >= limit }
    static func add() { count.add(1, ordering: .acquiringAndReleasing) }
    static func remove() { count.subtract(1, ordering: .acquiringAndReleasing) }
}
