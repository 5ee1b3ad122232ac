// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport
import YKVirtualKey

/// An open file through which the kernel talks to the program that emulates a device; closed at the end of its life.
struct KernelFile: ~Copyable {
    let descriptor: Int32

    /// Takes ownership of an open descriptor.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Opens a device file; returns the error number if it cannot be opened.
    static func opened(_ path: String) -> (descriptor: Int32, errno: Int32) {
        let file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
        return file < 0 ? (-1, errno) : (file, 0)
    }

    /// Reads once, waiting at most `limit`: empty if nothing arrived, `nil` if the other side is gone.
    borrowing func receive(_ size: Int, within limit: Duration) -> [UInt8]? {
        let milliseconds = Deadline.after(limit).milliseconds(limit: 50)
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return [] }
        var block = [UInt8](repeating: 0, count: size)
        let count = read(descriptor, &block, size)
        if count < 0 { return errno == EAGAIN || errno == EINTR ? [] : nil }
        return count == 0 ? nil : Array(block.prefix(count))
    }

    /// Writes all bytes to a stream; `false` if the other side is gone or accepts nothing for five seconds.
    borrowing func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
                continue
            }
            guard errno == EAGAIN || errno == EINTR else { return false }
            var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard poll(&entry, 1, 5000) > 0 else { return false }
        }
        return true
    }
}
