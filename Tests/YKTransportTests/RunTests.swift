// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKTestSupport
import YKTransport

@Suite struct WorldTests {
    @Test func deadlines() {
        let soon = Deadline.after(.seconds(100))
        #expect(!soon.isOver && !soon.isCancelled && soon.remaining > .seconds(90))
        #expect(soon.milliseconds() > 90_000 && soon.milliseconds(limit: 50) == 50)
        #expect(Deadline.after(.zero).isOver && Deadline.after(.seconds(-5)).remaining == .zero)
        expect(Deadline.after(.zero).milliseconds(), is: 0)
        let forever = Deadline.after(.seconds(Int64.max))
        #expect(!forever.isOver && forever.milliseconds() == .max)
    }

    @Test func cancellation() {
        let stop = Cancellation()
        let environment = ServiceEnvironment(cancellation: stop)
        let deadline = environment.deadline()
        #expect(throws: Never.self) { try deadline.check("working") }
        stop.cancel()
        #expect(stop.isCancelled && deadline.isCancelled)
        #expect(throws: LinkError.cancelled) { try deadline.check("working") }
        #expect(throws: LinkError.timedOut("working")) { try Deadline.after(.zero).check("working") }
    }

    @Test("work beside an exchange is done when it is asked for")
    func workBeside() {
        let mayEnd = Semaphore()
        let isDone = Mutex(false)
        let work = WorkBeside(after: 2) {
            mayEnd.wait()
            isDone.withLock { $0 = true }
            return 7
        }
        #expect(!isDone.withLock { $0 })
        mayEnd.post()
        #expect(work.end() == 7 && isDone.withLock { $0 })
    }

    @Test func theRealWorld() {
        #expect(SystemClock().now > 1_700_000_000 && FixedClock(5).now == 5)
        #expect(SystemRandom().draw(32, secret: true).count == 32 && SystemRandom().draw(-1, secret: false).isEmpty)
        #expect(SystemRandom().draw(32, secret: false) != SystemRandom().draw(32, secret: false))
    }
}

/// A service that blocks on its own thread.
private actor Service {
    private let thread: ServiceThread
    private var isBusy = false
    private(set) var calls = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ thread: ServiceThread) { self.thread = thread }

    /// Answers whether nobody else was inside.
    func work() -> Bool {
        let wasAlone = !isBusy
        isBusy = true
        for _ in 0..<1000 { calls &+= 1 }
        isBusy = false
        return wasAlone
    }
}

@Suite struct ServiceThreadTests {
    @Test func manyCallersNeverMeet() async throws {
        let service = Service(try ServiceThread())
        let alone = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 { group.addTask { await service.work() } }
            return await group.reduce(true) { $0 && $1 }
        }
        #expect(alone)
        await expect(service.calls, is: 200_000)
    }

    @Test func theThreadEndsWithItsService() async throws {
        weak var gone: ServiceThread?
        do {
            let thread = try ServiceThread()
            gone = thread
            let service = Service(thread)
            #expect(await service.work())
        }
        for _ in 0..<1000 where gone != nil { await Task.yield() }
        #expect(gone == nil)
    }
}
