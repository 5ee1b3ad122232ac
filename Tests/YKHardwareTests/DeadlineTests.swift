// SPDX-License-Identifier: Apache-2.0

import CPCSC
import Glibc
import Synchronization
import Testing
import YKTestSupport
import YKTransport

@testable import YKHardware

/// Calls that block for ever do not block whoever made them.
@Suite struct DeadlineTests {
    @Test func anAbandonedExchangeCleansUpWhenItReturns() throws {
        let fake = FakeLibrary()
        let gate = Semaphore()
        let ended = Semaphore()
        let service = fake.service {
            $0.transmit = { _, _, _, _, _, _ in
                gate.wait()
                return 0
            }
            $0.releaseContext = { _ in
                defer { ended.post() }
                return fake.note("release")
            }
        }
        let link = try service.connect(reader: "R", share: .shared, deadline: .soon)
        link.resetsOnRelease = true
        _ = try link.begin(deadline: .soon)
        #expect(throws: LinkError.timedOut("the card's answer")) {
            try link.exchange([0, 1, 2, 3], deadline: .after(.milliseconds(300)))
        }
        expect(fake.count("release"), is: 0)
        gate.post()
        #expect(ended.wait(milliseconds: 20_000))
        expect(fake.calls.withLock { $0.suffix(3) }, is: ["begin", "disconnect 1", "release"])
        try expect(link.begin(deadline: .soon), is: true)
        link.close()
    }

    @Test(arguments: [true, false]) func aCancelledTaskLeavesItsExchange(isReset: Bool) async throws {
        let begun = Signal()
        let (gate, ended) = (Semaphore(), Semaphore())
        let fake = FakeLibrary()
        let service = fake.service {
            $0.transmit = { _, _, _, _, _, _ in
                begun.send()
                gate.wait()
                return 0
            }
            $0.releaseContext = { _ in
                defer { ended.post() }
                return fake.note("release")
            }
        }
        let blocking = try Blocking()
        let task = Task {
            try await blocking.run {
                let link = try service.connect(reader: "R", share: .shared, deadline: .soon)
                link.resetsOnRelease = isReset
                _ = try link.begin(deadline: .soon)
                return try link.exchange([0, 1, 2, 3], deadline: ServiceEnvironment(timeout: .seconds(600)).deadline())
            }
        }
        await begun.wait()
        task.cancel()
        await #expect(throws: LinkError.cancelled) { try await task.value }
        expect(fake.count("release"), is: 0)
        gate.post()
        #expect(try await onThread { ended.wait(milliseconds: 20_000) })
        expect(fake.calls.withLock { $0.suffix(3) }, is: ["begin", "disconnect \(isReset ? 1 : 0)", "release"])
    }

    @Test func aDeadlineThatIsOverCostsNoWorker() throws {
        let fake = FakeLibrary()
        let service = fake.service()
        #expect(throws: LinkError.timedOut("the list of readers")) { try service.readers(.after(.zero)) }
        let link = try service.connect(reader: "R", share: .shared, deadline: .soon)
        _ = try link.begin(deadline: .soon)
        #expect(throws: LinkError.self) { try link.exchange([0, 1, 2, 3], deadline: .after(.zero)) }
        try expect(link.exchange([0, 1, 2, 3], deadline: .soon).count, is: 6)
        #expect(throws: LinkError.self) {
            try service.connect(reader: "R", share: .shared, deadline: .after(.zero))
        }
        link.close()
        #expect(fake.count("establish") <= 2)
    }

    @Test func closingDoesNotWaitForACardThatHangs() throws {
        let gate = Semaphore()
        let service = FakeLibrary().service {
            $0.beginTransaction = { _ in
                gate.wait()
                return 0
            }
        }
        let link = try service.connect(reader: "R", share: .shared, deadline: .soon)
        #expect(throws: LinkError.self) { try link.begin(deadline: .after(.milliseconds(300))) }
        link.close()
        gate.post()
    }

    @Test func anIdleWorkerEndsWithItsService() throws {
        let fake = FakeLibrary()
        let ended = Semaphore()
        var service: PCSCService? = fake.service {
            $0.releaseContext = { _ in
                ended.post()
                return 0
            }
        }
        _ = try service?.readers(.soon)
        service = nil
        #expect(ended.wait(milliseconds: 20_000))
    }
}
