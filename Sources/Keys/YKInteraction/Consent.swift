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

    private let time: Duration
    private let state = Mutex(State())

    /// - Parameter policy: How long a question waits for its answer.
    package init(_ policy: RemotePolicy) { time = policy.questionTime }

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

    /// Whether the user agrees; false if the task is cancelled.
    ///
    /// - Parameters:
    ///   - ask: Asks without waiting for the answer; the first answer counts.
    ///   - withdraw: Withdraws the question, which may have been answered.
    package func agrees(
        _ ask: (@escaping @Sendable (Bool) -> Void) -> Void, withdraw: () -> Void
    ) async -> Bool {
        let answer = FirstAnswer()
        let timer = Task { [time] in
            try? await Task.sleep(for: time)
            answer.give(false)
        }
        ask { answer.give($0) }
        let isYes = await withTaskCancellationHandler {
            await answer.value
        } onCancel: {
            answer.give(false)
        }
        timer.cancel()
        withdraw()
        let isCancelled = Task.isCancelled
        count(isYes)
        return isYes && !isCancelled
    }
}

/// The first of several answers to a question.
private final class FirstAnswer: Sendable {
    private struct State {
        var answer: Bool?
        var waiting: CheckedContinuation<Bool, Never>?
    }

    private let state = Mutex(State())

    /// Gives an answer; later ones are ignored.
    func give(_ answer: Bool) {
        let waiting = state.withLock { state in
            guard state.answer == nil else { return CheckedContinuation<Bool, Never>?.none }
            state.answer = answer
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: answer)
    }

    /// The answer, once there is one.
    var value: Bool {
        get async {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state in
                    if state.answer == nil { state.waiting = continuation }
                    return state.answer
                }
                if let answer { continuation.resume(returning: answer) }
            }
        }
    }
}
