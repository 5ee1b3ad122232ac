// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKBridge
import YKDesktop
import YKTransport

/// Whether the user of a guard is at their session, by logind's signals. Without logind they always are.
final class GuardPresence: Sendable {
    /// Why the user is away, and what is cancelled when that changes.
    struct Now: Sendable {
        let absence: GuardAbsence?
        let changed = Cancellation()
    }

    private let state: Shared
    private let watch: SessionWatch?

    private final class Shared: Sendable {
        let now = Mutex(Now(absence: nil))

        func change(_ absence: GuardAbsence?) {
            let before: Now? = now.withLock { now in
                guard now.absence != absence else { return nil }
                defer { now = Now(absence: absence) }
                return now
            }
            before?.changed.cancel()
        }
    }

    init() {
        let state = Shared()
        self.state = state
        watch = SessionWatch { state.change($0?.ofGuard) }
    }

    /// The state now.
    var now: Now { state.now.withLock { $0 } }
}

extension SessionAbsence {
    fileprivate var ofGuard: GuardAbsence {
        switch self {
        case .locked: .locked
        case .inactive: .inactive
        case .asleep: .asleep
        }
    }
}
