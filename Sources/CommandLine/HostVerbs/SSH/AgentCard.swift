// SPDX-License-Identifier: Apache-2.0

import Applications
import Verbs
import YKInteraction
import YKPIV
import YKUse

/// The PIV application of the agent's card, and the list of its keys. It stays open for a moment after a request, so that the
/// requests that follow need no selection and no PIN.
final class AgentCard {
    /// How long the card is withheld from other programs.
    private static let patience = Duration.seconds(2)
    /// How long an answer proves that the card is still present.
    private static let freshness = Duration.milliseconds(250)
    /// How long the list of keys is cached, in case slots change.
    private static let listLifetime = Duration.seconds(60)

    private let session: CardSession
    private var lastAnswer = ContinuousClock.now
    /// The keys of a card; without a serial number they are known only while it is open.
    private var known: (card: PIVUnlocking, serial: UInt32?, keys: [PIVSlotKey], time: ContinuousClock.Instant)?

    /// - Parameters:
    ///   - lifetime: How long a PIN may be used, in seconds; the card is closed with it.
    ///   - schedule: Arranges that ``close(_:)`` is called with a number after a time, by the task that uses the card.
    init(
        _ run: Run, _ credentials: CredentialBroker, lifetime: Int?, schedule: @escaping (Int, Duration) -> Void
    ) {
        let patience = min(Self.patience, lifetime.map { .seconds($0) } ?? Self.patience)
        session = CardSession(CardHold(longest: patience), schedule: schedule) { _ in
            let service = try await run.openPIV()
            do {
                let serial = try await service.serial()
                let unlocking = PIVUnlocking(service, credentials, run.person, key: serial.map { String($0) })
                unlocking.isForAgent = true
                return CardSession.Card(unlocking, serial: serial)
            } catch {
                await service.close()
                throw error
            }
        }
    }

    /// Uses the card; after an error it is closed.
    func use<Value>(_ body: (CardSession.Card) async throws -> Value) async throws -> Value {
        try await session.use { card in
            do {
                let value = try await body(card)
                lastAnswer = .now
                return value
            } catch {
                known = nil
                throw error
            }
        }
    }

    /// Returns the keys in the card's slots. If they are known, a single command checks whether a card that was open before is
    /// still present.
    func keys(_ card: CardSession.Card) async throws -> [PIVSlotKey] {
        if let known, known.card === card.unlocking {
            if lastAnswer.duration(to: .now) > Self.freshness { _ = try await card.service.serial() }
            return known.keys
        }
        if let found = known, found.serial != nil, found.serial == card.serial,
            found.time.duration(to: .now) < Self.listLifetime
        {
            known?.card = card.unlocking
            return found.keys
        }
        let keys = try await card.service.keys(in: PIVSlot.main + PIVSlot.retired)
        known = (card.unlocking, card.serial, keys, .now)
        return keys
    }

    /// Closes the card if it is still held with this number.
    func close(_ number: Int) async { await session.close(number) }

    /// Closes the card, so that another application of it can be used, or other programs while the user is asked.
    func close() async { await session.close() }
}
