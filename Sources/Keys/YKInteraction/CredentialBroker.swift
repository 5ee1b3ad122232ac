// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import YKCrypto
import YKProtocols
import YKTransport

/// Obtains credentials from its sources in order, then from the person. It holds what a key accepted, never sends again
/// what the key refused, and never uses the last try without asking.
///
/// There is one question at a time for each credential: a second use waits for the answer to the first.
public final class CredentialBroker: Sendable {
    /// The state of one credential.
    private struct Entry {
        /// The credential that was accepted and is returned again.
        var held: SharedSecret?
        /// Changes whenever a credential is accepted or forgotten, so that a timer recognizes its own.
        var generation = 0
        /// Ends the timer of the credential that is held.
        var endTimer: Alarm.Cancel?
        /// The credential returned last, neither accepted nor refused yet, and whether it is for one use only.
        var pending: (secret: SharedSecret, isForOnce: Bool)?
        /// The credentials that were refused.
        var refused: [SharedSecret] = []
        /// The tries that the key reported with its latest refusal.
        var triesLeft: Int?
        /// Whether it is being asked for or tried.
        var isBusy = false
        /// The callers that wait for their turn.
        var waiting: [(number: Int, resume: CheckedContinuation<Bool, Never>)] = []
    }

    private struct State {
        var entries: [CredentialID: Entry] = [:]
        var number = 0
    }

    /// The state shared by brokers with different sources.
    private final class Memory: Sendable {
        let lifetime: Duration?
        let state = Mutex(State())

        init(lifetime: Duration?) { self.lifetime = lifetime }

        func forget(_ id: CredentialID, ifStill generation: Int) {
            state.withLock { state in
                guard state.entries[id]?.generation == generation else { return }
                state.entries[id]?.held = nil
            }
        }
    }

    private let sources: [any CredentialSource]
    private let person: any Person
    private let memory: Memory

    /// Creates a broker.
    ///
    /// - Parameters:
    ///   - sources: The sources that ask no one, tried in this order.
    ///   - person: Who is asked if no source has one.
    ///   - lifetime: How long an accepted credential is held: `nil` for the broker's lifetime, zero for not at all.
    public convenience init(
        _ sources: [any CredentialSource], person: any Person, lifetime: Duration? = nil
    ) {
        self.init(sources, person, Memory(lifetime: lifetime))
    }

    private init(_ sources: [any CredentialSource], _ person: any Person, _ memory: Memory) {
        (self.sources, self.person, self.memory) = (sources, person, memory)
    }

    /// Returns a broker with other sources and another person that shares the state of this one: what is held, what was
    /// refused, and which questions are pending.
    public func asking(_ sources: [any CredentialSource], person: any Person) -> CredentialBroker {
        CredentialBroker(sources, person, memory)
    }

    /// Authenticates with a credential: obtains it, passes it to `body`, and records whether it was accepted.
    ///
    /// - Parameters:
    ///   - tries: Reads the remaining tries, if the request does not contain them, before a person is asked and before
    ///     a stored credential is sent. A credential given for this use is sent without that, which saves an exchange.
    ///   - body: Authenticates, and does nothing else. Its error counts as a refusal if it reports one
    ///     (`CredentialRefusal`).
    /// - Throws: `CredentialError`, and the errors of the sources, of the person and of `body`; `CryptoFault` without OpenSSL,
    ///   before anything is read.
    public nonisolated(nonsending) func use<Value>(
        _ request: CredentialRequest, counting tries: Tries? = nil,
        _ body: nonisolated(nonsending) (borrowing Secret) async throws -> Value
    ) async throws -> Value {
        try await turn(request.id)
        defer { endTurn(request.id) }
        let secret = try await find(request, tries)
        do {
            let value = try await body(secret.value)
            accepted(request.id)
            return value
        } catch {
            failed(request.id, error)
            throw error
        }
    }

    /// Reads the remaining tries of a credential from the key; `nil` if the key does not report them.
    public typealias Tries = nonisolated(nonsending) () async throws -> CredentialTries?

    /// Obtains a credential for a ceremony that authenticates by itself; ``accepted(_:)`` or ``refused(_:triesLeft:)``
    /// follows.
    ///
    /// - Parameter tries: As in ``use(_:counting:_:)``.
    /// - Throws: As ``use(_:counting:_:)``.
    public nonisolated(nonsending) func obtain(
        _ request: CredentialRequest, counting tries: Tries? = nil
    ) async throws -> SharedSecret {
        try await turn(request.id)
        defer { endTurn(request.id) }
        return try await find(request, tries)
    }

    /// Whether ``obtain(_:counting:)`` asks no one: the credential is held, or a source has it and the key has not
    /// refused any. Nothing is read.
    public func isAtHand(_ request: CredentialRequest) -> Bool {
        if held(request) != nil { return true }
        if memory.state.withLock({ $0.entries[request.id]?.refused.isEmpty == false }) { return false }
        return sources.contains { ($0.isGivenNow || !request.isLastTry) && $0.has(request) }
    }

    /// Whether the credential is held and may be used for this.
    public func isHeld(_ request: CredentialRequest) -> Bool { held(request) != nil }

    /// Holds the credential returned last, which the key accepted.
    public func accepted(_ id: CredentialID) {
        let generation: Int? = memory.state.withLock { state in
            guard let pending = state.entries[id]?.pending else { return nil }
            state.entries[id]?.pending = nil
            state.entries[id]?.triesLeft = nil
            guard memory.lifetime != .zero, !pending.isForOnce else { return nil }
            state.entries[id]?.held = pending.secret
            state.entries[id]?.generation += 1
            return state.entries[id]?.generation
        }
        guard let generation, let lifetime = memory.lifetime else { return }
        let cancel = Alarm.threads.set(lifetime) { [weak memory] in memory?.forget(id, ifStill: generation) }
        memory.state.withLock { state in
            state.entries[id]?.endTimer?()
            state.entries[id]?.endTimer = cancel
        }
    }

    /// Records that the key refused the credential returned last.
    public func refused(_ id: CredentialID, triesLeft: Int?) {
        memory.state.withLock { state in
            guard let pending = state.entries[id]?.pending else { return }
            state.entries[id]?.refused.append(pending.secret)
            state.entries[id]?.pending = nil
            state.entries[id]?.held = nil
            state.entries[id]?.triesLeft = triesLeft
        }
    }

    /// Handles an error after the use of the credential returned last: records a refusal if the error reports one.
    public func failed(_ id: CredentialID, _ error: any Error) {
        guard let refusal = RefusedCredential(causing: error), refusal.kind == id.kind else { return }
        refused(id, triesLeft: refusal.triesLeft)
    }

    /// Forgets a held credential and those that were refused, because it was changed or the key was reset.
    public func forget(_ id: CredentialID) {
        memory.state.withLock { state in
            state.entries[id]?.held = nil
            state.entries[id]?.pending = nil
            state.entries[id]?.refused = []
            state.entries[id]?.triesLeft = nil
            state.entries[id]?.generation += 1
        }
    }

    /// Finds a credential that may be sent.
    private nonisolated(nonsending) func find(
        _ request: CredentialRequest, _ tries: Tries?
    ) async throws -> SharedSecret {
        // No try is spent on an operation whose result could not be checked afterwards.
        try OpenSSL.require()
        let id = request.id
        memory.state.withLock { $0.entries[id]?.pending = nil }
        var request = request
        if request.triesLeft == nil, !request.isNew {
            request.triesLeft = memory.state.withLock { $0.entries[id]?.triesLeft }
        }
        try check(request)
        // A credential accepted before may have been changed elsewhere, so it is not tried when that could block the
        // key.
        if let held = held(request) { return give(held, request) }
        var obstacle: CredentialError?
        for source in sources {
            guard let secret = try await source.credential(request) else { continue }
            if secret.value.isEmpty, !request.allowsEmpty { throw CredentialError.empty(id) }
            if !source.isGivenNow { try await count(&request, tries) }
            if request.isLastTry, !source.isGivenNow {
                obstacle = .lastTry(id)
            } else if !request.isNew, wasRefused(secret, id) {
                obstacle = .refusedBefore(id)
            } else {
                return give(secret, request)
            }
        }
        if let obstacle, !person.presence.isHere { throw obstacle }
        try await count(&request, tries)
        let answer: SharedSecret
        do { answer = try await person.secret(request) } catch let declined as Declined {
            throw Self.error(declined, obstacle, id)
        }
        if answer.value.isEmpty, !request.allowsEmpty { throw CredentialError.empty(id) }
        if !request.isNew, wasRefused(answer, id) { throw CredentialError.refusedBefore(id) }
        return give(answer, request)
    }

    /// Reads the remaining tries once, unless they are known.
    private nonisolated(nonsending) func count(_ request: inout CredentialRequest, _ tries: Tries?) async throws {
        guard !request.isNew, request.isFactoryDefault == nil, let counted = try await tries?() else { return }
        (request.triesLeft, request.isFactoryDefault) = (counted.left, counted.isFactoryDefault)
        try check(request)
    }

    private static func error(_ declined: Declined, _ obstacle: CredentialError?, _ id: CredentialID) -> any Error {
        switch declined {
        case .no, .timedOut: CredentialError.declined(id)
        case .nobodyToAsk: obstacle ?? .nobodyToAsk(id)
        case .withdrawn: CancellationError()
        case .interrupted: declined
        }
    }

    private func check(_ request: CredentialRequest) throws(CredentialError) {
        if request.triesLeft == 0, !request.isNew { throw .blocked(request.id) }
    }

    private func held(_ request: CredentialRequest) -> SharedSecret? {
        guard !request.isNew, !request.isForOnce, !request.isLastTry else { return nil }
        return memory.state.withLock { $0.entries[request.id]?.held }
    }

    private func wasRefused(_ secret: SharedSecret, _ id: CredentialID) -> Bool {
        memory.state.withLock { state in (state.entries[id]?.refused ?? []).contains { $0.value == secret.value } }
    }

    private func give(_ secret: SharedSecret, _ request: CredentialRequest) -> SharedSecret {
        memory.state.withLock { $0.entries[request.id, default: Entry()].pending = (secret, request.isForOnce) }
        return secret
    }

    /// Waits until no one else asks for the credential.
    private nonisolated(nonsending) func turn(_ id: CredentialID) async throws {
        let number = memory.state.withLock { state in
            state.number += 1
            return state.number
        }
        let isMine = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = memory.state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.entries[id, default: Entry()].isBusy {
                        state.entries[id]?.waiting.append((number, continuation))
                        return nil
                    }
                    state.entries[id, default: Entry()].isBusy = true
                    return true
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = memory.state.withLock { state -> CheckedContinuation<Bool, Never>? in
                guard let index = state.entries[id]?.waiting.firstIndex(where: { $0.number == number }) else {
                    return nil
                }
                return state.entries[id]?.waiting.remove(at: index).resume
            }
            waiter?.resume(returning: false)
        }
        guard isMine else { throw CancellationError() }
    }

    private func endTurn(_ id: CredentialID) {
        let next = memory.state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard let first = state.entries[id]?.waiting.first else {
                state.entries[id]?.isBusy = false
                return nil
            }
            state.entries[id]?.waiting.removeFirst()
            return first.resume
        }
        next?.resume(returning: true)
    }
}
