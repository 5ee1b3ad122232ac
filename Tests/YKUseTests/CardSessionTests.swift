// SPDX-License-Identifier: Apache-2.0

import Testing
import YKInteraction
import YKPIV
import YKTestSupport
import YKTransport
import YKUse

/// Cards that a program keeps open between uses.
struct CardSessionTests {
    private let bench: Bench
    private let person = ScriptedPerson("123456")
    private let broker: CredentialBroker
    private let opened = Counter<UInt32?>()
    private let scheduled = Counter<Int>()

    /// What was noted, in order.
    private final class Counter<Element> {
        var all: [Element] = []
    }

    private struct Failed: Error {}

    init() async throws {
        bench = try Bench()
        try await bench.makeKey(.authentication)
        broker = CredentialBroker([], person: person)
    }

    private func session(_ hold: CardHold = CardHold(longest: nil)) -> CardSession {
        CardSession(hold, schedule: { [scheduled] number, _ in scheduled.all.append(number) }) {
            [opened, bench, broker, person] serial in
            opened.all.append(serial)
            let service = try await bench.piv()
            return CardSession.Card(
                PIVUnlocking(service, broker, person, key: "4711"), serial: try await service.serial())
        }
    }

    private func verify(_ card: CardSession.Card) async throws { try await card.unlocking.verify(for: "sign") }

    @Test func staysOpenAndUnlocked() async throws {
        let session = session()
        try await session.use { try await verify($0) }
        try await session.use { card in #expect(card.unlocking.isVerified) }
        #expect(opened.all == [nil] && scheduled.all.isEmpty && session.serial == 4711)
        await session.close()
        expect(session.serial, is: nil)
        try await session.use { card in #expect(!card.unlocking.isVerified) }
        expect(opened.all.count, is: 2)
    }

    @Test func isClosedAfterAnError() async throws {
        let session = session()
        await #expect(throws: Failed.self) {
            try await session.use { card in
                try await verify(card)
                throw Failed()
            }
        }
        try await session.use { card in #expect(!card.unlocking.isVerified) }
        expect(opened.all.count, is: 2)
    }

    @Test("what another program has reset is used again, without a question")
    func repeats() async throws {
        let session = session()
        var rounds = 0
        try await session.use { card in
            rounds += 1
            try await verify(card)
            if rounds < 3 { throw PIVError.card(.link(.reset)) }
        }
        #expect(rounds == 3 && opened.all.count == 3 && person.requests.count == 1)
        await #expect(throws: PIVError.card(.link(.removed))) {
            try await session.use { _ in throw PIVError.card(.link(.removed)) }
        }
        expect(opened.all.count, is: 3)
    }

    @Test("several cards are open, each found by the serial number that was asked for or by its own")
    func several() async throws {
        let other = try Bench(serial: 7)
        let both = CardSession { serial in
            let service = try await (serial == 7 ? other : bench).piv()
            opened.all.append(serial)
            return CardSession.Card(PIVUnlocking(service, broker, person), serial: try await service.serial())
        }
        for serial: UInt32? in [7, nil, 4711, nil, 7] {
            try await both.use(serial) { card in expect(card.serial, is: serial ?? 4711) }
        }
        expect(opened.all, is: [7, nil])
    }

    @Test("is closed when its time is over, and by the timer of its own number only")
    func time() async throws {
        let session = session(CardHold(longest: .seconds(60)))
        try await session.use { _ in }
        await session.close(scheduled.all[0] + 1)
        expect(session.serial, is: 4711)
        await session.close(scheduled.all[0])
        expect(session.serial, is: nil)
        try await session.use { _ in }
        expect(scheduled.all, is: [1, 2])
        await session.close()

        let brief = self.session(CardHold(longest: .zero))
        for _ in 1...2 { try await brief.use { _ in } }
        #expect(brief.serial == nil && opened.all.count == 4 && scheduled.all.count == 2)
    }
}
