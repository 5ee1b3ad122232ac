// SPDX-License-Identifier: Apache-2.0

import CPCSC
import Synchronization
import Testing
import YKTestSupport
import YKTransport

@testable import YKHardware

/// Readers and cards that come and go.
extension RealPCSCD {
    @Suite struct WatchTests {
        @Test func cardsAndTheServiceComeAndGo() async throws {
            let lab = try Lab()
            let name = lab.readers[0]
            var events = lab.service.watch().makeAsyncIterator()
            let empty = ReaderStatus(name: name, hasCard: false)
            await expect(events.next(), is: .added(empty))
            await expect(events.next(), is: .enumerated)
            let card = try VPCDCard(port: lab.sandbox.ports[0])
            var event = await events.next()
            while case .changed(let status) = event, status.atr.isEmpty { event = await events.next() }
            expect(event, is: .changed(ReaderStatus(name: name, hasCard: true, atr: VPCDCard.atr)))
            card.unplug()
            await expect(events.next(), is: .changed(empty))
            try lab.sandbox.control(.kill)
            await expect(events.next(), is: .removed(name))
            event = await events.next()
            expect(event, is: .interrupted(.serviceNotRunning))
            try lab.sandbox.control(.start)
            await expect(events.next(), is: .added(empty))
        }

        @Test func aWatchThatIsCancelledEndsAtOnceAndLeavesNothing() async throws {
            let lab = try Lab()
            let task = Task { [service = lab.service] in
                var seen = 0
                for await _ in service.watch() { seen += 1 }
                return seen
            }
            try lab.waitFor { !$0.hasCard }
            task.cancel()
            #expect(await task.value <= 2)
        }
    }
}

/// The same with a library that does as told.
@Suite struct WatchFakeTests {
    @Test func readersComeAndGo() async throws {
        let readers = Mutex<[String]>([])
        let wake = Semaphore()
        let service = FakeLibrary().service {
            $0.listReaders = { _, names, length in FakeLibrary.list(readers.withLock { $0 }, names, length) }
            $0.getStatusChange = { _, milliseconds, states, count in
                if milliseconds > 0 { wake.wait() }
                for index in 0..<Int(count) { states?[index].dwEventState = DWORD(SCARD_STATE_EMPTY) }
                return 0
            }
            $0.cancel = { _ in
                wake.post()
                return 0
            }
        }
        var events = service.watch().makeAsyncIterator()
        await expect(events.next(), is: .enumerated)
        readers.withLock { $0 = ["A", "B"] }
        wake.post()
        await expect(events.next(), is: .added(.init(name: "A", hasCard: false)))
        await expect(events.next(), is: .added(.init(name: "B", hasCard: false)))
        readers.withLock { $0 = ["B"] }
        wake.post()
        await expect(events.next(), is: .removed("A"))
    }

    @Test func aCancelledTaskCancelsTheCall() async throws {
        let begun = Signal()
        let (cancelled, ended) = (Semaphore(), Semaphore())
        let service = FakeLibrary().service {
            $0.getStatusChange = { _, milliseconds, states, count in
                for index in 0..<Int(count) { states?[index].dwEventState = DWORD(SCARD_STATE_EMPTY) }
                guard milliseconds > 0 else { return 0 }
                begun.send()
                cancelled.wait()
                return LONG(bitPattern: 0x8010_0002)
            }
            $0.cancel = { _ in
                cancelled.post()
                return 0
            }
            $0.releaseContext = { _ in
                ended.post()
                return 0
            }
        }
        let task = Task { for await _ in service.watch() {} }
        await begun.wait()
        task.cancel()
        await task.value
        #expect(try await onThread { ended.wait(milliseconds: 20_000) })
    }

    @Test func aMissingServiceIsToldOnce() async throws {
        let service = FakeLibrary().service { $0.establishContext = { _ in LONG(0x8010_006A) } }
        var events = service.watch().makeAsyncIterator()
        await expect(events.next(), is: .interrupted(.serviceNotRunning))
    }

    @Test func theMachinesOwnReadersAreWatched() async {
        var events = PCSC.watch().makeAsyncIterator()
        #expect(await events.next() != nil)
    }
}
