// SPDX-License-Identifier: Apache-2.0

import Glibc
package import YKTransport

/// Waits until another program has used a node: opened it for writing and closed it (inotify(7)). A node that is moved
/// stays watched.
package final class NodeClosings: Sendable {
    private let descriptor: Int32

    /// - Returns: `nil` if there is no such node, or the system has no descriptor or watch left.
    package init?(_ path: String) {
        // The flags of inotify have the values of those of open(2).
        descriptor = inotify_init1(Int32(O_CLOEXEC | O_NONBLOCK))
        guard descriptor >= 0 else { return nil }
        guard inotify_add_watch(descriptor, path, UInt32(IN_CLOSE_WRITE)) >= 0 else {
            close(descriptor)
            return nil
        }
    }

    deinit { close(descriptor) }

    /// Blocks until a program has closed the node, or after any of the cancellations; returns whether one has.
    package func wait(until cancellations: [Cancellation]) -> Bool {
        var events = [UInt8](repeating: 0, count: 4096)
        while !cancellations.contains(where: \.isCancelled) {
            Readiness.wait(for: [descriptor], until: cancellations)
            if read(descriptor, &events, events.count) > 0 { return true }
        }
        return false
    }
}
