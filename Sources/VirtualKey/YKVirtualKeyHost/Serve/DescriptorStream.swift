// SPDX-License-Identifier: Apache-2.0

import Glibc
package import YKTransport

/// A stream of bytes in two directions, each with a descriptor, which are neither opened nor closed here.
package struct DescriptorStream: Sendable {
    private let input: Int32
    private let output: Int32

    /// Makes both descriptors non-blocking.
    package init(input: Int32, output: Int32) {
        (self.input, self.output) = (input, output)
        for descriptor in [input, output] {
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        }
    }

    /// Writes all bytes; `false` if the other side is gone or does not accept them in time.
    package func write(_ bytes: [UInt8], within limit: Duration) -> Bool {
        let deadline = Deadline.after(limit)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
                continue
            }
            guard errno == EAGAIN || errno == EINTR, !deadline.isOver else { return false }
            var entry = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
            _ = poll(&entry, 1, deadline.milliseconds(limit: 1000))
        }
        return true
    }

    /// Waits for bytes and returns them: empty if the time was over or one of the cancellations happened before, `nil` if
    /// the other side is gone.
    ///
    /// - Parameter limit: The longest wait; `nil` for no limit.
    package func receive(until cancellations: [Cancellation], atMost limit: Duration?) -> [UInt8]? {
        guard Readiness.wait(for: [input], until: cancellations, atMost: limit)[0] else { return [] }
        var block = [UInt8](repeating: 0, count: 4096)
        let count = read(input, &block, block.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return [] }
        return count > 0 ? Array(block.prefix(count)) : nil
    }
}
