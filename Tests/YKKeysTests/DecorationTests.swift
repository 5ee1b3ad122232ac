// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCapture
import YKTransport
import YKWire

@testable import YKKeys

/// Decorated links do what the links below do.
@Suite struct DecorationTests {
    /// A card that notes what is asked of it.
    final class NotedCard: CardLink {
        let notes = Notes()
        var identity: CardIdentity { CardIdentity(reader: "Noted", atr: [0x3B, 0x00]) }
        var resetOnClose: Bool {
            get { notes.all.contains("resetOnClose") }
            set { if newValue { notes.add("resetOnClose") } }
        }
        func exchange(_ command: [UInt8], deadline: Deadline) -> [UInt8] {
            notes.add(Hex.encode(command))
            return [0x90, 0x00]
        }
        func begin(deadline: Deadline) -> Bool {
            notes.add("begin")
            return true
        }
        func end() { notes.add("end") }
        func reset(_ kind: CardReset, deadline: Deadline) { notes.add("reset") }
        func close() { notes.add("close") }
    }

    final class Notes: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    /// A card behind a log and a plan is still reset when its user is done, so that no other program inherits a PIN.
    @Test func everyMemberReachesTheCardBelow() throws {
        let card = NotedCard()
        let notes = card.notes
        let log = TrafficLog { _, _ in }
        let link = PlanningLink(LoggingLink(card, log), ExchangePlan())
        link.resetOnClose = true
        #expect(link.resetOnClose)
        #expect(try link.begin(deadline: .after(.seconds(1))))
        _ = try link.exchange([0x00, 0xA4, 0x04, 0x00, 0x00], deadline: .after(.seconds(1)))
        try link.reset(.cold, deadline: .after(.seconds(1)))
        link.end()
        link.close()
        #expect(link.identity.reader == "Noted")
        #expect(notes.all == ["resetOnClose", "begin", "00a4040000", "reset", "end", "close"])
    }
}
