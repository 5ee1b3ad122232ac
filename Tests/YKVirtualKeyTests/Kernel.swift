// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import YKTransport
import YKVirtualKey

/// The kernel's side of a file through which a server plays a device: one end of a socket pair.
final class Kernel: Sendable {
    /// The end that the server is given.
    let served: Int32
    private let own: Int32

    /// `kind` is SOCK_SEQPACKET for uhid, where each read gives one message, and SOCK_STREAM for USB/IP.
    init(_ kind: __socket_type) {
        var ends: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(kind.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
        (served, own) = (ends[0], ends[1])
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(own, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(own) }

    func send(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { Glibc.send(own, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    /// The next message, empty when the other side is gone or says nothing for a minute.
    func receive() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = recv(own, &bytes, bytes.count, 0)
        return Array(bytes.prefix(max(0, count)))
    }

    /// Exactly so many bytes of a stream, fewer when the other side is gone.
    func receive(_ count: Int) -> [UInt8] {
        // recv(2) waits for data also when it is to read none.
        guard count > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        let got = recv(own, &bytes, count, Int32(MSG_WAITALL))
        return Array(bytes.prefix(max(0, got)))
    }

    /// Closes this end.
    func hangUp() { shutdown(own, Int32(SHUT_RDWR)) }
}

/// Work on a thread of its own.
final class BackgroundThread: Sendable {
    private let handle: Mutex<pthread_t?>

    init(_ body: @escaping @Sendable () -> Void) {
        let work = Work(body)
        var handle = pthread_t()
        pthread_create(
            &handle, nil,
            { argument in
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, Unmanaged.passRetained(work).toOpaque())
        self.handle = Mutex(handle)
    }

    /// Waits for its end.
    func join() {
        let handle = handle.withLock { handle in
            defer { handle = nil }
            return handle
        }
        if let handle { pthread_join(handle, nil) }
    }

    private final class Work {
        let body: () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
