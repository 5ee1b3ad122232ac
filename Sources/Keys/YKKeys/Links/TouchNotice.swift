// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import YKTransport

/// What a key waits for.
public enum TouchReason: Sendable, Hashable {
    /// A touch.
    case touch
    /// A touch, or the placement of a card on its reader.
    case placement
    /// An enrolled fingerprint.
    case fingerprint
    /// A finger to enroll.
    case enrolment

    /// How long to wait before prompting the user: an immediate touch needs no prompt.
    public static let delay = Duration.milliseconds(300)
}

/// The notice that a key waits for its user, given after ``TouchReason/delay`` unless the wait is over before. Its end
/// is reported after its beginning, or neither is.
package final class TouchNotice: Sendable {
    private enum Stage { case waiting, given, over(wasGiven: Bool) }

    private final class State: Sendable {
        let stage = Mutex(Stage.waiting)
    }

    private let state: State
    private let cancel: Alarm.Cancel
    private let end: @Sendable () -> Void

    /// Begins the wait; neither closure may block.
    package init(_ alarm: Alarm, begin: @escaping @Sendable () -> Void, end: @escaping @Sendable () -> Void) {
        let state = State()
        self.state = state
        self.end = end
        cancel = alarm.set(TouchReason.delay) {
            state.stage.withLock { stage in
                guard case .waiting = stage else { return }
                stage = .given
                begin()
            }
        }
    }

    /// Ends the wait.
    package func finish() {
        cancel()
        state.stage.withLock { stage in
            switch stage {
            case .waiting: stage = .over(wasGiven: false)
            case .given:
                stage = .over(wasGiven: true)
                end()
            case .over: break
            }
        }
    }

    /// Whether the notice was given.
    package var isGiven: Bool {
        state.stage.withLock { stage in
            switch stage {
            case .waiting: false
            case .given: true
            case .over(let wasGiven): wasGiven
            }
        }
    }
}
