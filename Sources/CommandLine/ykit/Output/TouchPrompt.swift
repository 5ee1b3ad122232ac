// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Asks for a touch, but only when the key has waited 0.3 s for it.
struct TouchPrompt {
    /// What is said unless there is something better.
    static let usual = "touch the key"

    private enum Stage { case waiting, shown, over(wasShown: Bool) }

    private final class State: Sendable {
        let stage = Mutex(Stage.waiting)
    }

    private let state = State()
    private let task: Task<Void, Never>
    private let terminal: Terminal

    init(_ terminal: Terminal, _ words: String = usual) {
        let state = state
        self.terminal = terminal
        task = Task {
            do { try await Task.sleep(for: .milliseconds(300)) } catch { return }
            state.stage.withLock { stage in
                guard case .waiting = stage else { return }
                stage = .shown
                terminal.beginTouch(words)
            }
        }
    }

    /// The key does not wait any more.
    func end() {
        task.cancel()
        state.stage.withLock { stage in
            switch stage {
            case .waiting: stage = .over(wasShown: false)
            case .shown:
                stage = .over(wasShown: true)
                terminal.endTouch()
            case .over: break
            }
        }
    }

    /// Whether the person was asked.
    var isShown: Bool {
        state.stage.withLock { stage in
            switch stage {
            case .waiting: false
            case .shown: true
            case .over(let wasShown): wasShown
            }
        }
    }

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
