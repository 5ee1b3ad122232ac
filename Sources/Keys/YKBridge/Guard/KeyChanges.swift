// SPDX-License-Identifier: Apache-2.0

package import YKFIDO
import YKHardware
package import YKTransport

/// Looks at a guarded key again after another program has used it, as ykit's other verbs do while the guard does not.
package enum KeyChanges {
    /// What another program's use of the key came to.
    package enum Use: Sendable {
        /// Programs see the key as before. The PIN may be another one.
        case same
        /// The key has to be presented again: it has a PIN now, or none, or was reset.
        case changed
    }

    /// Watches the node of a key on a thread of its own.
    ///
    /// - Parameters:
    ///   - service: The key.
    ///   - path: Its node.
    ///   - cancellations: Each ends the watch.
    ///   - used: Called after each use, on any thread.
    /// - Returns: Whether the system has what a watch needs.
    package static func watch(
        _ service: FIDOService, at path: String, until cancellations: [Cancellation],
        _ used: @escaping @Sendable (Use) -> Void
    ) async throws(FIDOError) -> Bool {
        guard let closings = NodeClosings(path) else { return false }
        let before = PresentedInfo.answer(try await service.info(), isLocal: true)
        return SystemThread.start {
            while closings.wait(until: cancellations) {
                Task(executorPreference: TaskThread.shared) {
                    // A key that does not answer is used by another program again, or unplugged.
                    guard let now = try? await service.freshInfo() else { return }
                    await service.rest()
                    used(PresentedInfo.answer(now, isLocal: true) == before ? .same : .changed)
                }
            }
        }
    }
}
