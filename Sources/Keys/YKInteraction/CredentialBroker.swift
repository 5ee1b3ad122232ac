// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import YKCrypto
import YKProtocols

/// Asks its sources in order and then the person, holds what a key accepted, never sends again what it refused, and never
/// spends a last try unasked.
///
/// There is one question at a time for each credential: a second use waits for the answer to the first.
public final class CredentialBroker: Sendable {
    private struct Entry {
        /// What was accepted, and is given out again.
        var held: SharedSecret?
        /// Changes with each acceptance and forgetting, so that a timer knows its own secret.
        var generation = 0
        /// What was given out last and is neither accepted nor refused.
        var pending: SharedSecret?
        /// What was refused.
        var refused: [SharedSecret] = []
        /// The tries that the key reported with its latest refusal.
        var triesLeft: Int?
        /// Whether it is being asked for or tried.
        var isBusy = false
        /// Those who wait for their turn.
        var waiting: [(number: Int, resume: CheckedContinuation<Bool, Never>)] = []
    }

    private struct State {
        var entries: [CredentialID: Entry] = [:]
        var number = 0
    }

    private let sources: [any CredentialSource]
    private let person: any CredentialPrompt
    private let lifetime: Duration?
    private let state = Mutex(State())

    /// Creates a broker.
    ///
    /// - Parameters:
    ///   - sources: Where credentials come from without a question, in this order.
    ///   - person: Who is asked if no source has one.
    ///   - lifetime: How long an accepted credential is held; `nil` as long as the broker, zero not at all.
    public init(_ sources: [any CredentialSource], person: any CredentialPrompt, lifetime: Duration? = nil) {
        self.sources = sources
        self.person = person
        self.lifetime = lifetime
    }

    /// Authenticates with a credential: obtains it, hands it to `body`, and takes note of whether it was accepted.
    ///
    /// - Parameter body: What authenticates and does nothing else. Its error counts as a refusal if it says so
    ///   (``CredentialRefusal``).
    /// - Throws: `CredentialError`, and the errors of the sources and of `body`.
    public nonisolated(nonsending) func use<Value>(
        _ request: CredentialRequest, _ body: nonisolated(nonsending) (borrowing Secret) async throws -> Value
    ) async throws -> Value {
        try await turn(request.id)
        defer { endTurn(request.id) }
        let secret = try await find(request)
        do {
            let value = try await body(secret.value)
            accepted(request.id)
            return value
        } catch {
            if let refusal = (error as? any CredentialRefusal)?.refusedCredential, refusal.kind == request.id.kind {
                refused(request.id, triesLeft: refusal.triesLeft)
            }
            throw error
        }
    }

    /// Obtains a credential for a ceremony that authenticates by itself; ``accepted(_:)`` or ``refused(_:triesLeft:)``
    /// follows.
    ///
    /// - Throws: `CredentialError`, and the errors of the sources.
    public nonisolated(nonsending) func obtain(_ request: CredentialRequest) async throws -> SharedSecret {
        try await turn(request.id)
        defer { endTurn(request.id) }
        return try await find(request)
    }

    /// Holds what was given out last, which the key accepted.
    public func accepted(_ id: CredentialID) {
        let generation: Int? = state.withLock { state in
            guard let pending = state.entries[id]?.pending else { return nil }
            state.entries[id]?.pending = nil
            state.entries[id]?.triesLeft = nil
            guard lifetime != .zero else { return nil }
            state.entries[id]?.held = pending
            state.entries[id]?.generation += 1
            return state.entries[id]?.generation
        }
        guard let generation, let lifetime else { return }
        Task.detached { [weak self] in
            try? await Task.sleep(for: lifetime)
            self?.forget(id, ifStill: generation)
        }
    }

    /// Remembers that the key refused what was given out last.
    public func refused(_ id: CredentialID, triesLeft: Int?) {
        state.withLock { state in
            guard let pending = state.entries[id]?.pending else { return }
            state.entries[id]?.refused.append(pending)
            state.entries[id]?.pending = nil
            state.entries[id]?.held = nil
            state.entries[id]?.triesLeft = triesLeft
        }
    }

    /// Forgets what is held of a credential, and what was refused: it was changed, or the key reset.
    public func forget(_ id: CredentialID) {
        state.withLock { state in
            state.entries[id]?.held = nil
            state.entries[id]?.pending = nil
            state.entries[id]?.refused = []
            state.entries[id]?.triesLeft = nil
            state.entries[id]?.generation += 1
        }
    }

    private func forget(_ id: CredentialID, ifStill generation: Int) {
        state.withLock { state in
            guard state.entries[id]?.generation == generation else { return }
            state.entries[id]?.held = nil
        }
    }
}

extension CredentialBroker {
    /// Finds a credential that may be sent.
    private nonisolated(nonsending) func find(_ request: CredentialRequest) async throws -> SharedSecret {
        let id = request.id
        let (held, counted) = state.withLock { state in
            state.entries[id]?.pending = nil
            return (state.entries[id]?.held, state.entries[id]?.triesLeft)
        }
        let triesLeft = request.isNew ? nil : request.triesLeft ?? counted
        if triesLeft == 0 { throw CredentialError.blocked(id) }
        // What was accepted before may have been changed elsewhere: it is not tried when that could block the key.
        let isLast = triesLeft == 1
        if let held, !request.isNew, !isLast { return give(held, id) }
        var obstacle: CredentialError?
        for source in sources {
            guard let secret = try await source.credential(request) else { continue }
            if secret.value.isEmpty { throw CredentialError.empty(id) }
            if isLast, !source.isGivenNow {
                obstacle = .lastTry(id)
            } else if !request.isNew, wasRefused(secret, id) {
                obstacle = .refusedBefore(id)
            } else {
                return give(secret, id)
            }
        }
        let answer: SharedSecret?
        do { answer = try await person.secret(request) } catch { throw CredentialError.declined(id) }
        guard let answer else { throw obstacle ?? .nobodyToAsk(id) }
        if answer.value.isEmpty { throw CredentialError.empty(id) }
        if !request.isNew, wasRefused(answer, id) { throw CredentialError.refusedBefore(id) }
        return give(answer, id)
    }

    private func wasRefused(_ secret: SharedSecret, _ id: CredentialID) -> Bool {
        state.withLock { state in (state.entries[id]?.refused ?? []).contains { $0.value == secret.value } }
    }

    private func give(_ secret: SharedSecret, _ id: CredentialID) -> SharedSecret {
        state.withLock { $0.entries[id, default: Entry()].pending = secret }
        return secret
    }

    /// Waits until nobody else asks for the credential.
    private nonisolated(nonsending) func turn(_ id: CredentialID) async throws {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        let isMine = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
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
            let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
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
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
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
