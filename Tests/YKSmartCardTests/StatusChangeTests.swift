// SPDX-License-Identifier: Apache-2.0

import Testing
import YKSmartCard
import YKTestSupport
import YKTransport
import YKVirtualKey

/// Waiting for readers and cards.
@Suite struct StatusChangeTests {
    private let readers = PlayedReaders()
    private static let atr = DeviceProfile(serial: 1).atr

    private func insert(_ name: String) {
        let key = VirtualKey.demonstration()
        readers.insert(name, atr: Self.atr) { key.link() }
    }

    @Test func whatIsNotKnownIsToldAtOnce() throws {
        insert("A")
        readers.empty("E")
        let context = try SmartCardContext(readers)
        let found = try context.getStatusChange(
            timeout: .zero,
            [ReaderState("A"), ReaderState("E"), ReaderState("X"), ReaderState("A", current: .ignore)])
        expect(found.map(\.event), is: [[.present, .changed], [.empty, .changed], [.unknown, .changed], .ignore])
        expect(found.map(\.atr), is: [Self.atr, [], [], []])
        #expect(throws: SmartCardError.timeout) {
            _ = try context.getStatusChange(timeout: .milliseconds(5), found.map(\.seen))
        }
    }

    @Test func cardsAndReadersThatComeAndGo() throws {
        readers.empty("A")
        let context = try SmartCardContext(readers)
        let hotPlug = ReaderState(SmartCardContext.hotPlug, count: 1)
        var states = try context.getStatusChange(timeout: .zero, [ReaderState("A"), hotPlug])
        #expect(states[1].event == [] && states[1].eventCount == 1)
        insert("A")
        states = try context.getStatusChange(timeout: .seconds(5), states.map(\.seen))
        #expect(states[0].event == [.present, .changed] && states[0].eventCount == 1)
        readers.empty("A")
        states = try context.getStatusChange(timeout: .seconds(5), states.map(\.seen))
        #expect(states[0].event == [.empty, .changed] && states[0].eventCount == 2)
        insert("B")
        states = try context.getStatusChange(timeout: .seconds(5), states.map(\.seen))
        #expect(states[0].event == .empty && states[1].event == .changed && states[1].eventCount == 2)
        readers.detach("A")
        states = try context.getStatusChange(timeout: .seconds(5), states.map(\.seen))
        expect(states[0].event, is: [.unknown, .changed])
    }

    @Test func aChangeEndsAWait() async throws {
        readers.empty("A")
        let readers = readers
        let task = Task.detached { () throws -> ReaderState.Flags in
            let context = try SmartCardContext(readers)
            let seen = ReaderState("A", current: .empty)
            return try context.getStatusChange(timeout: .seconds(20), [seen])[0].event
        }
        insert("A")
        try await expect(task.value, is: [.present, .changed])
    }

    @Test func aCancellationEndsAWait() async throws {
        readers.empty("A")
        let context = try SmartCardContext(readers)
        context.canceller.cancel()
        #expect(throws: SmartCardError.cancelled) {
            try context.getStatusChange(timeout: .seconds(20), [ReaderState("A", current: .empty)])
        }
        context.resume()
        #expect(throws: SmartCardError.timeout) {
            try context.getStatusChange(timeout: .zero, [ReaderState("A", current: .empty)])
        }
    }
}
