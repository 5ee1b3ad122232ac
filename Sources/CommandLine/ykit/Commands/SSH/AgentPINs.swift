// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKCrypto

/// The PINs of an agent: given at its start, cached, or asked for. Only the user spends the last try: a PIN that was
/// given or cached may be wrong by then, and one that was refused is never sent again.
final class AgentPINs: Sendable {
    private struct State {
        var given: SharedSecret?
        var isRead = false
        var kept: (pin: SharedSecret, number: Int)?
        var number = 0
        /// Whether a PIN was sent.
        var isUsed = false
    }

    private let source: SecretInput.Source
    private let terminal: Terminal
    private let lifetime: Int?
    private let state = Mutex(State())

    init(_ source: SecretInput.Source, _ terminal: Terminal, lifetime: Int?) {
        self.source = source
        self.terminal = terminal
        self.lifetime = lifetime
    }

    /// Returns a PIN.
    ///
    /// - Parameters:
    ///   - triesLeft: The remaining tries, if the key reports them.
    ///   - isKept: Whether it is cached, and may come from the cache.
    /// - Throws: `Explanation` if none is available.
    func pin(
        _ question: String, _ prompt: AgentPrompt, triesLeft: Int?, isKept: Bool
    ) async throws -> SharedSecret {
        try readGiven()
        if (triesLeft ?? .max) > 1, let pin = ready(isKept: isKept) { return pin }
        let pin = try await prompt.pin(question)
        if isKept, lifetime != 0 { keep(pin) }
        state.withLock { $0.isUsed = true }
        return pin
    }

    /// Whether ``pin(_:_:triesLeft:isKept:)`` asks the user.
    func asks(triesLeft: Int?, isKept: Bool) throws -> Bool {
        try readGiven()
        return (triesLeft ?? .max) <= 1 || state.withLock { $0.given == nil && !(isKept && $0.kept != nil) }
    }

    /// Reads the PIN that is given by an option or a variable, once.
    func readGiven() throws {
        let isRead = state.withLock { state in
            defer { state.isRead = true }
            return state.isRead
        }
        guard !isRead, case .secret(let secret) = try SecretInput.given(source, terminal) else { return }
        let given = SharedSecret(secret)
        state.withLock { $0.given = given }
    }

    private func ready(isKept: Bool) -> SharedSecret? {
        state.withLock { state in
            let pin = state.given ?? (isKept ? state.kept?.pin : nil)
            state.isUsed = state.isUsed || pin != nil
            return pin
        }
    }

    /// Caches a PIN until its lifetime ends.
    private func keep(_ pin: SharedSecret) {
        let number = state.withLock { state in
            state.number += 1
            state.kept = (pin, state.number)
            return state.number
        }
        guard let lifetime else { return }
        Task { [weak self] in
            try? await Task.sleep(for: .seconds(lifetime))
            self?.forget(number)
        }
    }

    private func forget(_ number: Int) {
        state.withLock { if $0.kept?.number == number { $0.kept = nil } }
    }

    /// Discards the PIN that the card refused; returns whether to ask the user, which is never done for the last retry.
    func wasRefused(triesLeft: Int?) -> Bool {
        state.withLock { state in
            state.given = nil
            state.kept = nil
            return state.isUsed && (triesLeft ?? 0) > 1
        }
    }
}
