// SPDX-License-Identifier: Apache-2.0

import CPCSC
import Glibc
import Synchronization
import Testing
import YKTestSupport
import YKTransport

@testable import YKHardware

/// Waiting until something in the readers is different.
@Suite struct WaitTests {
    private static let empty = ReaderStatus(name: "R", hasCard: false)

    /// A library whose reader is empty until a wait began so many times.
    private func service(after waits: Int, failing code: LONG = 0) -> PCSCService {
        let left = Mutex(waits)
        return FakeLibrary().service {
            $0.getStatusChange = { _, milliseconds, states, count in
                let isThere = left.withLock { left in
                    if milliseconds > 0 { left -= 1 }
                    return left <= 0
                }
                let state = DWORD(isThere ? SCARD_STATE_PRESENT : SCARD_STATE_EMPTY)
                for index in 0..<Int(count) { states?[index].dwEventState = state }
                return milliseconds > 0 ? code : 0
            }
        }
    }

    @Test func aCancelledTaskEndsTheWait() async throws {
        let (begun, mayReturn) = (Signal(), Semaphore())
        let service = FakeLibrary().service {
            $0.getStatusChange = { _, milliseconds, states, count in
                if milliseconds > 0 {
                    begun.send()
                    _ = mayReturn.wait(milliseconds: 20_000)
                }
                for index in 0..<Int(count) { states?[index].dwEventState = DWORD(SCARD_STATE_EMPTY) }
                return 0
            }
        }
        let blocking = try Blocking()
        let task = Task {
            try await blocking.run {
                try service.readers(otherThan: [Self.empty], ServiceEnvironment(timeout: .seconds(600)).deadline())
            }
        }
        await begun.wait()
        task.cancel()
        mayReturn.post()
        await #expect(throws: LinkError.cancelled) { try await task.value }
    }

    @Test func aCancelledTaskCancelsTheCall() async throws {
        let begun = Signal()
        let (cancelled, ended) = (Semaphore(), Semaphore())
        let fake = FakeLibrary()
        let service = fake.service {
            $0.getStatusChange = { _, milliseconds, states, count in
                for index in 0..<Int(count) { states?[index].dwEventState = DWORD(SCARD_STATE_EMPTY) }
                guard milliseconds > 0 else { return 0 }
                begun.send()
                cancelled.wait()
                return LONG(bitPattern: 0x8010_0002)
            }
            $0.cancel = { context in
                defer { cancelled.post() }
                return fake.note("cancel \(context)")
            }
            $0.releaseContext = { _ in
                defer { ended.post() }
                return fake.note("release")
            }
        }
        let blocking = try Blocking()
        let task = Task {
            try await blocking.run {
                try service.readers(otherThan: [Self.empty], ServiceEnvironment(timeout: .seconds(600)).deadline())
            }
        }
        await begun.wait()
        task.cancel()
        await #expect(throws: LinkError.cancelled) { try await task.value }
        // The call has returned: the thread that made it ends.
        #expect(try await onThread { ended.wait(milliseconds: 20_000) })
        #expect(fake.calls.withLock { $0.first == "establish" && $0.contains("cancel 1") && $0.last == "release" })
    }

    @Test func aCardEndsTheWait() throws {
        let found = try service(after: 3).readers(otherThan: [Self.empty], .after(.seconds(20)))
        expect(found.map(\.hasCard), is: [true])
    }

    @Test func whatIsOtherAlreadyIsToldAtOnce() throws {
        try expect(service(after: 100).readers(otherThan: [], .after(.seconds(20))), is: [Self.empty])
    }

    @Test func aReaderThatGoesAwayIsNoFailure() throws {
        let gone = LONG(bitPattern: 0x8010_0009)
        try expect(service(after: 2, failing: gone).readers(otherThan: [Self.empty], .after(.seconds(20))).count, is: 1)
        #expect(throws: LinkError.self) {
            try service(after: 2, failing: LONG(bitPattern: 0x8010_001F)).readers(
                otherThan: [Self.empty], .after(.seconds(20)))
        }
    }

    @Test func theDeadlineEndsTheWait() {
        let never = Semaphore()
        let service = FakeLibrary().service {
            $0.getStatusChange = { _, milliseconds, states, count in
                if milliseconds > 0 { _ = never.wait(milliseconds: 1) }
                for index in 0..<Int(count) { states?[index].dwEventState = DWORD(SCARD_STATE_EMPTY) }
                return 0
            }
        }
        // The list comes back as it is, or the time was over before: both say that nothing changed.
        do throws(LinkError) {
            try expect(service.readers(otherThan: [Self.empty], .after(.milliseconds(30))), is: [Self.empty])
        } catch {
            if case .timedOut = error {} else { Issue.record(error) }
        }
        let cancellation = Cancellation()
        cancellation.cancel()
        #expect(throws: LinkError.cancelled) {
            try service.readers(otherThan: [Self.empty], .after(.seconds(20), cancellation: cancellation))
        }
    }

    @Test func anAnswerToResetIsAskedForAgainAfterAMoment() {
        let now = ContinuousClock.now
        let readers = ["with a card": FakeLibrary.atr, "without": []].map { name, atr in
            ReaderSnapshot(status: ReaderStatus(name: name, hasCard: !atr.isEmpty, atr: atr), state: 0)
        }
        let listing = ReaderListing(readers, at: now)
        expect(listing.atr(in: "with a card", at: now + ReaderListing.life - .nanoseconds(1)), is: FakeLibrary.atr)
        expect(listing.atr(in: "with a card", at: now + ReaderListing.life), is: nil)
        expect(listing.atr(in: "without", at: now), is: nil)
        expect(listing.atr(in: "another", at: now), is: nil)
    }
}
