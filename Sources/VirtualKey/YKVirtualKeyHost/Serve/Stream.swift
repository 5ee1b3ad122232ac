// SPDX-License-Identifier: Apache-2.0

import Glibc
package import YKTransport

/// A TCP connection whose waits can be cancelled.
struct Stream: ~Copyable {
    private let descriptor: Int32
    private static let step: Int32 = 50

    deinit { Glibc.close(descriptor) }

    /// Connects to the first of the host's addresses that accepts the connection.
    init(_ address: VPCDAddress, _ cancellation: Cancellation) throws(VPCDError) {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address.host, String(address.port), &hints, &list) == 0 else {
            throw .unknownHost(address.host)
        }
        defer { freeaddrinfo(list) }
        var failure = ECONNREFUSED
        var next = list
        while let entry = next?.pointee {
            let (connected, code) = Self.connect(entry, cancellation)
            if let connected {
                descriptor = connected
                return
            }
            failure = code
            next = entry.ai_next
        }
        throw .notReachable(address, errno: failure, String(cString: strerror(failure)))
    }

    private static func connect(_ entry: addrinfo, _ cancellation: Cancellation) -> (Int32?, Int32) {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(entry.ai_family, kind, 0)
        guard descriptor >= 0 else { return (nil, errno) }
        var code: Int32 = 0
        if Glibc.connect(descriptor, entry.ai_addr, entry.ai_addrlen) != 0 {
            code = errno
            if code == EINPROGRESS {
                let isReady = wait(descriptor, POLLOUT, .seconds(5), cancellation)
                var size = socklen_t(MemoryLayout<Int32>.size)
                getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
                if !isReady { code = ETIMEDOUT }
            }
        }
        if code == 0 {
            set(TCP_NODELAY, descriptor)
            return (descriptor, 0)
        }
        close(descriptor)
        return (nil, code)
    }

    private static func set(_ option: Int32, _ descriptor: Int32) {
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), option, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Returns the bytes received: empty if the other side is gone, `nil` if cancelled.
    borrowing func receive(_ cancellation: Cancellation) -> [UInt8]? {
        var block = [UInt8](repeating: 0, count: 4096)
        while !cancellation.isCancelled {
            // vpcd (vsmartcard 3.3) sends length and content separately and, because of Nagle's algorithm, waits for an
            // acknowledgement in between, which the kernel would delay by 40 ms.
            Self.set(TCP_QUICKACK, descriptor)
            let count = recv(descriptor, &block, block.count, 0)
            Self.set(TCP_QUICKACK, descriptor)
            if count >= 0 { return Array(block.prefix(count)) }
            guard errno == EAGAIN || errno == EINTR else { return [] }
            _ = Self.wait(descriptor, POLLIN, .seconds(3600), cancellation)
        }
        return nil
    }

    /// Returns what comes within `limit`: `nil` if nothing does, empty if the other side is gone.
    borrowing func receive(within limit: Duration, _ cancellation: Cancellation) -> [UInt8]? {
        guard Self.wait(descriptor, POLLIN, limit, cancellation) else { return nil }
        var block = [UInt8](repeating: 0, count: 4096)
        Self.set(TCP_QUICKACK, descriptor)
        let count = recv(descriptor, &block, block.count, 0)
        Self.set(TCP_QUICKACK, descriptor)
        if count < 0, errno == EAGAIN || errno == EINTR { return nil }
        return Array(block.prefix(max(count, 0)))
    }

    /// Sends all bytes; `false` if the other side is gone or the operation was cancelled.
    borrowing func send(_ bytes: [UInt8], _ cancellation: Cancellation) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty, !cancellation.isCancelled {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0 {
                guard errno == EAGAIN || errno == EINTR else { return false }
                _ = Self.wait(descriptor, POLLOUT, .seconds(5), cancellation)
            } else {
                rest = rest.dropFirst(count)
            }
        }
        return rest.isEmpty
    }

    /// Waits until the descriptor is ready; `false` on timeout or cancellation.
    private static func wait(
        _ descriptor: Int32, _ events: Int32, _ limit: Duration, _ cancellation: Cancellation
    ) -> Bool {
        let deadline = Deadline.after(limit, cancellation: cancellation)
        while !deadline.isOver, !deadline.isCancelled {
            var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            if poll(&entry, 1, min(step, deadline.milliseconds())) > 0 { return true }
        }
        return false
    }
}

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
