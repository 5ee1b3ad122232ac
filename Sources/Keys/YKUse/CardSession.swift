// SPDX-License-Identifier: Apache-2.0

package import YKPIV
import YKTransport

/// The cards whose PIV application a program keeps open between uses, so that the uses that follow need no selection and
/// no PIN. Other programs wait as long as the ``CardHold`` permits, and find nothing unlocked.
///
/// A use that fails because another program holds the card, has reset it or powered it off is repeated. After any other
/// error the card is closed.
package final class CardSession {
    /// An open card.
    package struct Card {
        /// Its serial number, if it is known.
        package let serial: UInt32?
        /// Its PIV application, and what is verified in it.
        package let unlocking: PIVUnlocking

        /// Its PIV application.
        package var service: PIVService { unlocking.service }

        package init(_ unlocking: PIVUnlocking, serial: UInt32?) {
            (self.unlocking, self.serial) = (unlocking, serial)
        }
    }

    private var hold: CardHold
    private let schedule: (Int, Duration) -> Void
    private let open: (UInt32?) async throws -> Card
    /// The open cards, by the serial number that was asked for.
    private var cards: [(wanted: UInt32?, card: Card)] = []

    /// - Parameters:
    ///   - hold: How long the cards may be withheld from other programs.
    ///   - schedule: Arranges that ``close(_:)`` is called with a number after a time, by the task that uses the cards.
    ///   - open: Opens the card with a serial number, or with `nil` the only one.
    package init(
        _ hold: CardHold = CardHold(longest: nil),
        schedule: @escaping (_ number: Int, _ time: Duration) -> Void = { _, _ in },
        open: @escaping (UInt32?) async throws -> Card
    ) {
        (self.hold, self.schedule, self.open) = (hold, schedule, open)
    }

    /// The serial number of the card that was opened last and is still open, if it is known.
    package var serial: UInt32? { cards.last?.card.serial }

    /// Uses a card, which is opened unless it is open.
    ///
    /// - Parameter serial: Its serial number; `nil` for the only card.
    /// - Throws: What `body` throws, and what opening the card throws.
    package func use<Value>(
        _ serial: UInt32? = nil, _ body: (Card) async throws -> Value
    ) async throws -> Value {
        try await CardHold.repeating {
            if hold.isOver(at: .now) { await close() }
            let card = try await opened(serial)
            do {
                let value = try await body(card)
                if hold.isOver(at: .now) { await close() }
                return value
            } catch {
                await close(card)
                throw error
            }
        }
    }

    private func opened(_ serial: UInt32?) async throws -> Card {
        let known = cards.last { $0.wanted == serial || serial != nil && $0.card.serial == serial }
        if let known { return known.card }
        if let pause = hold.pause(at: .now) { try await Task.sleep(for: pause) }
        let card = try await open(serial)
        cards.append((serial, card))
        if let (number, time) = hold.begin(at: .now), time > .zero { schedule(number, time) }
        return card
    }

    /// Closes the cards if they are still held with this number.
    package func close(_ number: Int) async {
        if hold.isStill(number) { await close() }
    }

    /// Closes the cards; what was unlocked is locked, and each is opened again on its next use.
    package func close() async {
        for (_, card) in cards { await close(card) }
    }

    private func close(_ card: Card) async {
        cards.removeAll { $0.card.unlocking === card.unlocking }
        await card.service.close()
        if cards.isEmpty { hold.end(at: .now) }
    }
}

/// How long a program may withhold a card from others that wait for it.
///
/// PC/SC does not report whether a program is waiting, so further uses do not extend this time, and the card is left alone for
/// a moment after a long one: programs that wait for a card poll pcscd every 100 ms (PCSCLITE_LOCK_POLL_RATE), so that a
/// client that never pauses would lock them out forever.
package struct CardHold: Hashable, Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// How long the card is free between two times, so that a program that waits for it gets it.
    private static let gap = Duration.milliseconds(300)
    /// How long a program waits for a card that another one holds.
    package static let patience = Duration.seconds(5)

    private let longest: Duration?
    private var since: Instant?
    private var free: Instant?
    private var isAgreed = false
    private var number = 0

    /// - Parameter longest: The longest time; `nil` for no limit, and zero to free the card after each use.
    package init(longest: Duration?) { self.longest = longest }

    /// Begins to hold the card; returns how long it may last, and its number, unless it is held already or without a limit.
    package mutating func begin(at now: Instant) -> (number: Int, time: Duration)? {
        guard since == nil else { return nil }
        since = now
        number += 1
        guard let longest, !isAgreed else { return nil }
        return (number, longest)
    }

    /// The user agreed to a use: the card is held without a limit until it is free.
    package mutating func agree() { isAgreed = true }

    /// The card is free.
    package mutating func end(at now: Instant) {
        if let since, let longest, longest > .zero, since.duration(to: now) > longest / 4 {
            free = now.advanced(by: Self.gap)
        }
        (since, isAgreed) = (nil, false)
    }

    /// Whether the time is over.
    package func isOver(at now: Instant) -> Bool {
        guard let since, let longest, !isAgreed else { return false }
        return since.duration(to: now) >= longest
    }

    /// Whether the card is still held, with this number, without a use that the user agreed to.
    package func isStill(_ number: Int) -> Bool { self.number == number && since != nil && !isAgreed }

    /// How long the card stays free before it is held again.
    package func pause(at now: Instant) -> Duration? {
        guard since == nil, let free, free > now else { return nil }
        return now.duration(to: free)
    }

    /// Repeats work with a card that another program holds, or has reset or powered off meanwhile.
    package static func repeating<Value>(
        _ work: () async throws -> Value
    ) async throws -> Value {
        let end = ContinuousClock.now + patience
        while true {
            do { return try await work() } catch {
                guard LinkError(causing: error)?.isTransient == true, .now < end else { throw error }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }
}
