// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import YKInteraction
import YKTransport

/// How a question that a program caused ends without an answer, and from when an answer counts.
final class PromptEnd: Sendable {
    private struct State {
        var isArmed = false
        var deadline: ContinuousClock.Instant?
    }

    /// Whether a question is open on the terminal, where only one can be answered.
    private static let isTaken = Mutex(false)

    private let patience: Duration
    private let state = Mutex(State())
    /// Becomes readable when the question is withdrawn.
    private let wake: WakePipe

    init(patience: Duration) throws {
        self.patience = patience
        wake = try WakePipe()
    }

    /// Withdraws the question.
    func withdraw() { _ = write(wake.output, [0], 1) }

    /// What to poll for.
    var event: pollfd { pollfd(fd: wake.input, events: Int16(POLLIN), revents: 0) }

    /// Waits until no other question is open, and begins to count the time.
    ///
    /// - Throws: `withdrawn` or `interrupted`.
    func takeTurn() throws(Declined) {
        while !Self.isTaken.withLock({ isTaken in
            defer { isTaken = true }
            return !isTaken
        }) {
            var event = event
            if poll(&event, 1, 20) > 0 { throw .withdrawn }
            if Interruption.happened { throw .interrupted }
        }
        state.withLock { $0.deadline = .now.advanced(by: patience) }
    }

    /// Lets the next question be asked.
    func endTurn() { Self.isTaken.withLock { $0 = false } }

    /// Whether this is the first question, whose answer counts only after a while. Later ones repeat or continue it.
    func arm() -> Bool {
        state.withLock { state in
            defer { state.isArmed = true }
            return !state.isArmed
        }
    }

    /// The time that is left, in milliseconds.
    ///
    /// - Throws: `withdrawn` or `timedOut`.
    func milliseconds() throws(Declined) -> Int32 {
        var event = event
        if poll(&event, 1, 0) > 0 { throw .withdrawn }
        guard let deadline = state.withLock({ $0.deadline }) else { return -1 }
        if deadline <= .now { throw .timedOut }
        return Deadline.after(ContinuousClock.now.duration(to: deadline)).milliseconds()
    }
}

extension Prompt {
    /// Asks at the terminal for something that a program or the person caused.
    ///
    /// A question that a program caused waits on a thread of its own, so that it ends when the task is cancelled, at its
    /// deadline, or on ^C; only one is open at a time, and the others wait for their turn.
    ///
    /// - Throws: ``NoTerminal`` if there is no terminal; `Declined` if the question ended without an answer;
    ///   `Explanation` if it was interrupted.
    nonisolated(nonsending) static func asking<Value: Sendable>(
        _ cause: QuestionCause, _ variables: EnvironmentVariables,
        _ body: @escaping @Sendable (borrowing Prompt) throws -> Value
    ) async throws -> Value {
        guard case .program(let patience) = cause else { return try body(Prompt(variables)) }
        let end = try PromptEnd(patience: patience)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isStarted = SystemThread.start {
                    continuation.resume(with: Result { try ask(end, variables, body) })
                }
                guard !isStarted else { return }
                continuation.resume(
                    throwing: Explanation("failed", .failed, "the system allows no more threads for this user"))
            }
        } onCancel: {
            end.withdraw()
        }
    }

    private static func ask<Value>(
        _ end: PromptEnd, _ variables: EnvironmentVariables, _ body: (borrowing Prompt) throws -> Value
    ) throws -> Value {
        try end.takeTurn()
        defer { end.endTurn() }
        let prompt = try Prompt(variables, end)
        do { return try body(prompt) } catch let declined as Declined {
            if declined == .withdrawn { prompt.tell("the question is withdrawn") }
            if declined == .timedOut { prompt.tell("there was no answer in time") }
            throw declined
        }
    }
}
