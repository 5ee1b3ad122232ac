// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A stream socket on this machine that blocks; closed when it goes away.
package final class LocalSocket: Sendable {
    /// Why there is no connection.
    package struct Failure: Error { package let number: Int32 }

    private let handle: Int32
    private let isTCP: Bool

    private init(_ handle: Int32, isTCP: Bool = false) {
        self.handle = handle
        self.isTCP = isTCP
    }

    deinit { close(handle) }

    /// Connects to a socket in the file system.
    package convenience init(connectedTo path: String) throws(Failure) {
        let handle = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let failed = Self.withAddress(path) { Glibc.connect(handle, $0, $1) }
        self.init(handle)
        if failed != 0 { throw Failure(number: errno) }
    }

    /// Connects to a port of this machine.
    package convenience init(port: UInt16) throws(Failure) {
        let handle = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let failed = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(handle, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        self.init(handle, isTCP: true)
        if failed != 0 { throw Failure(number: errno) }
        var on: Int32 = 1
        setsockopt(handle, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
    }

    /// Listens on a port of this machine that is free.
    package convenience init(listeningOn address: UInt32 = 0x7F00_0001) throws(Failure) {
        let handle = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.init(handle, isTCP: true)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = address.bigEndian
        let failed = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(handle, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if failed != 0 || listen(handle, 16) != 0 { throw Failure(number: errno) }
    }

    /// The port that is listened on.
    package var port: UInt16 {
        var name = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(handle, $0, &size) }
        }
        return UInt16(bigEndian: name.sin_port)
    }

    /// Listens on a new socket in the file system.
    package convenience init(listeningAt path: String) throws(Failure) {
        let handle = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let failed = Self.withAddress(path) { bind(handle, $0, $1) }
        self.init(handle)
        if failed != 0 || listen(handle, 16) != 0 { throw Failure(number: errno) }
    }

    /// Waits for a client; `nil` after ``shutDown()``.
    package func accept() -> LocalSocket? {
        let client = Glibc.accept(handle, nil, nil)
        return client < 0 ? nil : LocalSocket(client)
    }

    /// Sends all bytes, or as many as the other end takes before it is gone.
    package func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(handle, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Receives what is there, at least one byte; empty at the end.
    package func receive(upTo limit: Int) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = recv(handle, &buffer, limit, 0)
        // vpcd writes length and message apart: without this each message waits 40 ms for our acknowledgement.
        var on: Int32 = 1
        if isTCP { setsockopt(handle, Int32(IPPROTO_TCP), TCP_QUICKACK, &on, 4) }
        return count > 0 ? Array(buffer.prefix(count)) : []
    }

    /// Receives exactly so many bytes; `nil` when the other end goes away before.
    package func receive(exactly count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let piece = receive(upTo: count - bytes.count)
            guard !piece.isEmpty else { return nil }
            bytes += piece
        }
        return bytes
    }

    /// Ends both directions and whatever waits for them.
    package func shutDown() { shutdown(handle, Int32(SHUT_RDWR)) }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
}
