// SPDX-License-Identifier: Apache-2.0

import Glibc
package import YKTransport

/// Interrupts the wait of another thread.
package final class Wake: Sendable {
    private let reader: Int32
    private let writer: Int32

    /// Creates a wake in its initial state.
    ///
    /// - Throws: `failed` if the process has no descriptor left.
    package init() throws(UHIDError) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw .failed(path: "socketpair", errno: errno, String(cString: strerror(errno)))
        }
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        close(reader)
        close(writer)
    }

    /// Ends the current wait, or the next one immediately. If the buffer is full, it will end anyway.
    package func signal() {
        var byte: UInt8 = 1
        _ = send(writer, &byte, 1, Int32(MSG_NOSIGNAL))
    }

    /// Waits until ``signal()``, until a descriptor has input, until a cancellation, or for at most `limit`, rounded up to
    /// milliseconds; without end if that is `nil`. Without a cancellation it takes no memory, for which it could wait for
    /// another thread.
    package func wait(for limit: Duration?, or descriptor: Int32 = -1, until cancellation: Cancellation? = nil) {
        guard isSignalled(limit, descriptor, cancellation) else { return }
        var signals: UInt64 = 0
        while recv(reader, &signals, MemoryLayout.size(ofValue: signals), 0) > 0 {}
    }

    private func isSignalled(_ limit: Duration?, _ descriptor: Int32, _ cancellation: Cancellation?) -> Bool {
        if let cancellation {
            return Readiness.wait(for: [reader, descriptor], until: [cancellation], atMost: limit)[0]
        }
        let input = Int16(POLLIN)
        var entries = (
            pollfd(fd: reader, events: input, revents: 0), pollfd(fd: descriptor, events: input, revents: 0)
        )
        let time = limit.map { Deadline.after($0).milliseconds() } ?? -1
        let count = withUnsafeMutablePointer(to: &entries) { pair in
            pair.withMemoryRebound(to: pollfd.self, capacity: 2) { poll($0, 2, time) }
        }
        return count > 0 && entries.0.revents != 0
    }
}
