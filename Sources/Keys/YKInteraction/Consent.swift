// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The user's consent to what one other end requests, question by question, by the rules of a ``RemotePolicy``: no answer in
/// time is no, and after too many questions without a yes none is asked for a while.
package final class Consent: Sendable {
    private struct State {
        /// How many questions in a row had no yes.
        var refusals = 0
        /// Until when no question is asked.
        var silentUntil: ContinuousClock.Instant?
    }

    private let time: Duration
    private let state = Mutex(State())

    /// - Parameter policy: How long a question waits for its answer.
    package init(_ policy: RemotePolicy) { time = policy.questionTime }

    /// Whether too many questions had no yes, so that for a while none is asked.
    package var isSilent: Bool {
        state.withLock { state in
            guard let until = state.silentUntil else { return false }
            if until > .now { return true }
            (state.silentUntil, state.refusals) = (nil, 0)
            return false
        }
    }

    /// Whether the user agrees; not if the task is cancelled.
    ///
    /// - Parameters:
    ///   - ask: Asks, and returns at once; the first answer that it gets counts.
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
        state.withLock { state in
            if isYes { return state.refusals = 0 }
            state.refusals += 1
            if state.refusals >= RemotePolicy.questionLimit {
                state.silentUntil = .now.advanced(by: RemotePolicy.silence)
            }
        }
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

    /// Gives an answer; later ones do not count.
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
