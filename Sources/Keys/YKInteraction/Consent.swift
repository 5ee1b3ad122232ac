// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The user's consent to the requests of one remote peer, asked for each of them by the rules of a ``RemotePolicy``: no
/// answer in time means no, and after too many questions without a yes no more are asked for a while.
package final class Consent: Sendable {
    private struct State {
        /// The number of consecutive questions without a yes.
        var refusals = 0
        /// The time until which no question is asked.
        var silentUntil: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether no questions are asked for now, because too many had no yes.
    package var isSilent: Bool {
        state.withLock { state in
            guard let until = state.silentUntil else { return false }
            if until > .now { return true }
            (state.silentUntil, state.refusals) = (nil, 0)
            return false
        }
    }

    /// Asks, and returns why the person does not agree; `nil` after a yes. If no more questions are asked for now, the
    /// answer is no.
    package nonisolated(nonsending) func refusal<Q: Question>(
        of question: Q, by person: any Person
    ) async -> Declined? where Q.Answer == Void {
        guard !isSilent else { return .no }
        var declined: Declined?
        do throws(Declined) { try await person.answer(question) } catch { declined = error }
        if declined == nil, Task.isCancelled { declined = .withdrawn }
        count(declined == nil)
        return declined
    }

    private func count(_ isYes: Bool) {
        state.withLock { state in
            if isYes { return state.refusals = 0 }
            state.refusals += 1
            if state.refusals >= RemotePolicy.questionLimit {
                state.silentUntil = .now.advanced(by: RemotePolicy.silence)
            }
        }
    }
}
