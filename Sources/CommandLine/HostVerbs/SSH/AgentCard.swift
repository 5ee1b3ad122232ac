// SPDX-License-Identifier: Apache-2.0

import Applications
import Verbs
import YKInteraction
import YKPIV
import YKTransport
import YKUse

/// The PIV application of the agent's card. It stays open for a moment after a request, so that the requests that follow
/// need no selection and no PIN; other programs wait that long, and find nothing unlocked.
final class AgentCard {
    /// How long the card is withheld from other programs. PC/SC does not report whether one is waiting, so further
    /// requests do not extend this time.
    static let patience = Duration.seconds(2)
    /// How long the card is left to other programs after it was withheld for the full time. Programs that wait for a
    /// card poll pcscd every 100 ms (PCSCLITE_LOCK_POLL_RATE), so a client that never pauses would lock them out
    /// forever.
    private static let turn = Duration.milliseconds(250)
    /// How long an answer proves that the card is still present.
    private static let freshness = Duration.milliseconds(250)
    /// How long the list of keys is cached, in case slots change.
    private static let listLifetime = Duration.seconds(60)

    /// An open card.
    struct Session {
        let number: Int
        let service: PIVService
        let serial: UInt32?
        let end: ContinuousClock.Instant
        fileprivate(set) var keys: [PIVSlotKey]?
        /// Keeps the PIN's verified state.
        var access: PIVUnlocking
        fileprivate var lastAnswer = ContinuousClock.now
    }

    private let run: Run
    private let credentials: CredentialBroker
    private let patience: Duration
    /// Calls ``end(_:)`` with the number of a session when its time is up, from the task that uses the card.
    private let schedule: (Int, ContinuousClock.Instant) -> Void
    private var session: Session?
    /// The time until which the card is left to other programs.
    private var othersTurn = ContinuousClock.now
    private var count = 0
    private var known: (serial: UInt32, keys: [PIVSlotKey], time: ContinuousClock.Instant)?

    /// - Parameter lifetime: How long a PIN may be used, in seconds; a session ends with it.
    init(
        _ run: Run, _ credentials: CredentialBroker, lifetime: Int?,
        schedule: @escaping (Int, ContinuousClock.Instant) -> Void
    ) {
        (self.run, self.credentials) = (run, credentials)
        patience = min(Self.patience, lifetime.map { .seconds($0) } ?? Self.patience)
        self.schedule = schedule
    }

    /// Uses the card; after an error it is released.
    func use<Value>(_ body: (inout Session) async throws -> Value) async throws -> Value {
        if let session, session.end <= .now { await end() }
        var session = try await opened()
        do {
            let value = try await body(&session)
            session.lastAnswer = .now
            self.session = session
            if session.end <= .now { await end() }
            return value
        } catch {
            self.session = session
            await end()
            known = nil
            throw error
        }
    }

    private func opened() async throws -> Session {
        if let session { return session }
        if patience > .zero, othersTurn > .now { try await Task.sleep(until: othersTurn, clock: .continuous) }
        let service = try await run.openPIV()
        count += 1
        let end = ContinuousClock.now + patience
        var made: Session
        do {
            let serial = try await service.serial()
            made = Session(
                number: count, service: service, serial: serial, end: end,
                access: PIVUnlocking(service, credentials, run.person, key: serial.map { String($0) }))
        } catch {
            await service.close()
            throw error
        }
        made.access.isForAgent = true
        session = made
        if patience > .zero { schedule(count, end) }
        return made
    }

    /// Returns the keys in the card's slots. If they are known, a single command checks whether the card is still
    /// present.
    func keys(_ session: inout Session) async throws -> [PIVSlotKey] {
        if let keys = session.keys {
            if session.lastAnswer.duration(to: .now) > Self.freshness { _ = try await session.service.serial() }
            return keys
        }
        if let known, known.serial == session.serial, known.time.duration(to: .now) < Self.listLifetime {
            session.keys = known.keys
            return known.keys
        }
        let keys = try await session.service.keys(in: PIVSlot.main + PIVSlot.retired)
        session.keys = keys
        known = session.serial.map { ($0, keys, .now) }
        return keys
    }

    /// Releases the card if the session with this number is still open.
    func end(_ number: Int) async {
        if session?.number == number { await end() }
    }

    /// Releases the card, and resets it if something was unlocked.
    func end() async {
        guard let session else { return }
        self.session = nil
        await session.service.close()
        if session.end <= .now { othersTurn = .now + Self.turn }
    }
}

/// A card that other programs use as well.
enum BusyCard {
    /// How long to wait for other programs.
    static let patience = Duration.seconds(5)

    /// Repeats work with a card that another program holds, or has reset or powered off during the operation.
    static func retrying<Value>(_ work: () async throws -> Value) async throws -> Value {
        let end = ContinuousClock.now + patience
        while true {
            do { return try await work() } catch {
                guard LinkError(causing: error)?.isTransient == true, .now < end else { throw error }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }
}
