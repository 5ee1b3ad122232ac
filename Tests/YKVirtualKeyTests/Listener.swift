// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import YKTransport
import YKVirtualKey
import YKVirtualKeyHost

/// The reader's side of vpcd: listens on a free port of this machine and sends what a test wants.
final class Listener: Sendable {
    let port: UInt16
    private let descriptor: Int32

    init() {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let handle = descriptor
        port = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(handle, address, size)
                listen(handle, 4)
                getsockname(handle, address, &size)
            }
            return UInt16(bigEndian: pointer.pointee.sin_port)
        }
    }

    deinit { close(descriptor) }

    /// Waits for a key to be put in, at most a minute.
    func accept() -> Reader? {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, 60_000) == 1 else { return nil }
        return Reader(Glibc.accept(descriptor, nil, nil))
    }
}

/// One connection of a key.
final class Reader {
    private let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) {
        let frame = [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
        _ = frame.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    /// The next message, empty when the key is gone.
    func receive() -> [UInt8] {
        let head = take(2)
        return head.count == 2 ? take(Int(head[0]) << 8 | Int(head[1])) : []
    }

    func ask(_ bytes: [UInt8]) -> [UInt8] {
        send(bytes)
        return receive()
    }

    private func take(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = recv(descriptor, &bytes, count, Int32(MSG_WAITALL))
        return Array(bytes.prefix(max(0, got)))
    }
}

/// A server on a thread of its own, ended at the latest with the test.
final class Serving: Sendable {
    let stop = Cancellation()
    let events = Mutex<[VPCDServer.Event]>([])
    let failure = Mutex<VPCDError?>(nil)
    private let thread: Mutex<pthread_t?>

    init(_ key: VirtualKey, _ address: VPCDAddress, _ faults: String = "", reconnects: Bool = false) throws {
        thread = Mutex(nil)
        var server = VPCDServer(
            key, at: address, faults: try FaultPlan(parsing: faults), cancellation: stop,
            report: { [unowned self] event in events.withLock { $0.append(event) } })
        server.reconnects = reconnects
        server.touchTime = .milliseconds(20)
        let work = Work { [self, server] in
            var server = server
            do throws(VPCDError) { try server.run() } catch { failure.withLock { $0 = error } }
        }
        var handle = pthread_t()
        pthread_create(
            &handle, nil,
            { argument in
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, Unmanaged.passRetained(work).toOpaque())
        thread.withLock { [handle] in $0 = handle }
    }

    /// Waits for the end of the thread, calling it off first unless it ends by itself.
    func end(byItself: Bool = false) {
        if !byItself { stop.cancel() }
        let handle = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        if let handle { pthread_join(handle, nil) }
    }

    private final class Work {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }
}
