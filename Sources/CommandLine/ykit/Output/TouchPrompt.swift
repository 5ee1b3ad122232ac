// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Asks for a touch, but only when the key has waited 0.3 s for it.
struct TouchPrompt {
    /// What is said unless there is something better.
    static let usual = "touch the key"

    private final class State: Sendable {
        let isShown = Mutex(false)
    }

    private let state = State()
    private let task: Task<Void, Never>

    init(_ terminal: Terminal, _ words: String = usual) {
        let state = state
        task = Task {
            do { try await Task.sleep(for: .milliseconds(300)) } catch { return }
            state.isShown.withLock { $0 = true }
            terminal.say(words)
        }
    }

    func end() { task.cancel() }

    /// Whether the person was asked.
    var isShown: Bool { state.isShown.withLock { $0 } }

    /// Runs an exchange that waits for a touch.
    ///
    /// - Throws: `Explain.touchMissed` when the person was asked and the key did not answer in time, else what the body
    ///   throws.
    static func during<Result>(
        _ terminal: Terminal, _ body: () async throws -> Result
    ) async throws -> Result {
        let prompt = TouchPrompt(terminal)
        defer { prompt.end() }
        do { return try await body() } catch {
            guard prompt.isShown, Explain.explain(error).code == "timed-out" else { throw error }
            throw Explain.touchMissed
        }
    }
}

extension Explain {
    /// Nobody touched the key while the person was asked to. A card that waits for a touch can be silent for as long as
    /// that takes, so that this is known only by the time that is over.
    static let touchMissed = Explanation(
        "not-touched", .timeOut, "the key was not touched in time",
        hint: "repeat the command and touch the key while it blinks; until its own time is over it may still be waiting"
    )
}
