// SPDX-License-Identifier: Apache-2.0

/// Prompts the user to touch the key while it waits for a touch.
///
/// Belongs to the thread of a service. The prompt starts there, may continue anywhere, and its task is cancelled when the
/// wait ends.
package final class TouchWait {
    private let show: @Sendable () async -> Void
    private var task: Task<Void, Never>?

    package init(_ show: @escaping @Sendable () async -> Void) { self.show = show }

    /// Notes that the key waits for a touch; starts the prompt once until ``end()``.
    package func begin() {
        guard task == nil else { return }
        let show = show
        task = Task.immediate(executorPreference: TaskThread.shared) { await show() }
    }

    /// Notes that the key no longer waits.
    package func end() {
        task?.cancel()
        task = nil
    }

    deinit { end() }
}
