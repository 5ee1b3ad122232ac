// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Limits the lines on a terminal that other programs cause: 200, later one in ten seconds.
final class LimitedLines: Sendable {
    private static let limit = 200
    private static let time = Duration.seconds(10)

    private struct State {
        var lines = 0
        /// When the next line is shown once there were too many.
        var next = ContinuousClock.now
        var isHiding = false
    }

    private let state = Mutex(State())

    /// Shows a line, unless there were too many; the first one that is hidden is replaced.
    ///
    /// - Parameter replace: Shows that lines are hidden.
    func show(_ body: () -> Void, replace: () -> Void) {
        let (isShown, isFirstHidden) = state.withLock { state in
            if state.lines < Self.limit {
                state.lines += 1
            } else if state.next > .now {
                defer { state.isHiding = true }
                return (false, !state.isHiding)
            }
            state.isHiding = false
            state.next = .now.advanced(by: Self.time)
            return (true, false)
        }
        if isShown { body() }
        if isFirstHidden { replace() }
    }
}
