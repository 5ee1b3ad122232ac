// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKKeys

/// Asks for a touch once the key has waited 0.3 s for it.
struct TouchPrompt {
    /// The default prompt.
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

    /// Reports that the key no longer waits.
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

    /// Whether the prompt was shown.
    var isShown: Bool {
        state.stage.withLock { stage in
            switch stage {
            case .waiting: false
            case .shown: true
            case .over(let wasShown): wasShown
            }
        }
    }

    /// Runs an exchange that may wait for a touch.
    ///
    /// - Throws: `Explain.touchMissed` if the prompt was shown and the key did not answer in time; otherwise the error
    ///   of the body.
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
    /// The prompt was shown and nobody touched the key. A card may send nothing while it waits for a touch, so only the
    /// timeout reveals this.
    static let touchMissed = Explanation(
        "not-touched", .timeOut, "the key was not touched in time",
        hint: "repeat the command and touch the key while it blinks; until its own time is over it may still be waiting"
    )
}

extension TouchReason {
    /// The message for the user.
    var words: String {
        switch self {
        case .touch: TouchPrompt.usual
        case .enrolment: "put a finger on the key's sensor"
        case .fingerprint: "put your finger on the key's sensor"
        }
    }
}
