// SPDX-License-Identifier: Apache-2.0

import Glibc
package import YKTransport

/// Why a local socket could not be created.
package enum LocalSocketError: Error, Hashable, Sendable {
    /// A program listens at this path.
    case listens(path: String)
    /// Something other than a socket is at this path.
    case exists(path: String)
    /// The path is empty, or longer than 107 bytes.
    case unsuitablePath
    /// The system refused, with its error number; the path is `nil` if no socket could be created at all.
    case failed(path: String?, number: Int32)
}

/// Sockets in the file system (unix(7)).
package enum LocalSocket {
    /// Listens at a path, which only its owner may open; a socket left there by a killed program is replaced.
    package static func listen(at path: String) throws(LocalSocketError) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .failed(path: nil, number: errno) }
        var address = try address(path)
        if SocketFile(path) != nil {
            guard !answers(path) else {
                close(descriptor)
                throw .listens(path: path)
            }
            // A socket without a listener was left by a program that was killed.
            unlink(path)
        }
        let mask = umask(0o177)
        defer { umask(mask) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, Glibc.listen(descriptor, 64) == 0 else {
            let number = errno
            close(descriptor)
            throw number == EADDRINUSE ? .exists(path: path) : .failed(path: path, number: number)
        }
        return descriptor
    }

    private static func address(_ path: String) throws(LocalSocketError) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw .unsuitablePath
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return address
    }

    /// Connects to a socket; returns `nil`, with `errno`, if nothing listens there or the connection is not accepted in time.
    package static func connect(_ path: String, within limit: Duration) -> Int32? {
        guard var address = try? address(path) else { return nil }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        // If the queue of clients is full, connect(2) waits as long as send(2) may.
        var time = timeval(tv_sec: Int(limit.components.seconds), tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if connected == 0 { return descriptor }
        let failure = errno
        close(descriptor)
        errno = failure
        return nil
    }

    private static func answers(_ path: String) -> Bool {
        guard let descriptor = connect(path, within: .seconds(1)) else { return errno == EAGAIN }
        close(descriptor)
        return true
    }
}

/// A socket in the file system, by its place there.
package struct SocketFile: Equatable, Sendable {
    private let device: dev_t
    private let number: ino_t

    /// Reads the status of a path without following links; `nil` unless it is a socket.
    package init?(_ path: String) {
        var info = stat()
        guard lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFSOCK else { return nil }
        (device, number) = (info.st_dev, info.st_ino)
    }
}

/// The process at the other end of a socket when it was connected, or when it began to listen (`SO_PEERCRED`, unix(7)).
package struct PeerCredentials: Hashable, Sendable {
    /// The process.
    package let process: Int32
    /// Its effective user.
    package let user: UInt32

    /// Reads them; `nil` if the descriptor is not a connected local socket.
    package init?(of socket: Int32) {
        // struct ucred, which requires _GNU_SOURCE: process, user, group.
        var credentials: (pid_t, uid_t, gid_t) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else { return nil }
        (process, user) = (credentials.0, credentials.1)
    }
}

/// A socket that listens at a path for the programs of one user.
package final class LocalListener: Sendable {
    private let descriptor: Int32
    private let path: String
    private let file: SocketFile?

    /// Listens, and creates the folder of the path.
    ///
    /// - Parameters:
    ///   - owner: The number of the user that owns the socket; `nil` for the one that runs this.
    ///   - mode: Who may connect; by default only the owner and root.
    package init(at path: String, owner: UInt32? = nil, mode: UInt32 = 0o600) throws(LocalSocketError) {
        if let slash = path.lastIndex(of: "/") { _ = mkdir(String(path[..<slash]), 0o755) }
        self.path = path
        descriptor = try LocalSocket.listen(at: path)
        file = SocketFile(path)
        guard owner == nil || owner == geteuid() || chown(path, owner ?? 0, gid_t.max) == 0,
            chmod(path, mode) == 0
        else {
            let number = errno
            end()
            throw .failed(path: path, number: number)
        }
    }

    /// Takes a socket that listens already, and that another process removes.
    package init(inherited descriptor: Int32) {
        (self.descriptor, path, file) = (descriptor, "", nil)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// Waits for the next connection; `nil` if one of the cancellations happens before, or the connection has ended.
    package func accept(until cancellations: [Cancellation]) -> LocalConnection? {
        guard Readiness.wait(for: [descriptor], until: cancellations)[0] else { return nil }
        let client = Glibc.accept(descriptor, nil, nil)
        guard client >= 0 else { return nil }
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        return LocalConnection(client)
    }

    /// Stops listening, and removes the socket unless the path now belongs to a different file.
    package func end() {
        close(descriptor)
        if let file, SocketFile(path) == file { unlink(path) }
    }
}

/// A connection over a local socket, which is closed with this value.
package final class LocalConnection: Sendable {
    /// Why there is no connection, or no line on it.
    package enum Failure: Error, Hashable, Sendable {
        /// Nothing listens at the path.
        case nobody
        /// This user may not connect.
        case denied
        /// The other side has ended the connection, or sent no line in time.
        case ended
        /// A line is longer than allowed.
        case tooLong(limit: Int)
        /// It was cancelled.
        case cancelled
    }

    /// The descriptor.
    package let descriptor: Int32

    fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Connects.
    ///
    /// - Throws: `nobody` or `denied`.
    package init(to path: String, within limit: Duration) throws(Failure) {
        guard let descriptor = LocalSocket.connect(path, within: limit) else {
            throw errno == EACCES || errno == EPERM ? .denied : .nobody
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// The process at the other end.
    package var peer: PeerCredentials? { PeerCredentials(of: descriptor) }

    /// Sends bytes, fewer than any buffer of a socket has room for; returns `false` if the other side is gone.
    @discardableResult package func send(_ bytes: [UInt8]) -> Bool {
        Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Reads a line, without its end, byte by byte: what follows it is left in the connection.
    ///
    /// - Parameters:
    ///   - limit: The longest line, in bytes.
    ///   - cancellations: What ends the wait for it.
    ///   - deadline: When the wait ends at the latest; `nil` for never.
    /// - Throws: `ended`, `tooLong` or `cancelled`.
    package func line(
        limit: Int, until cancellations: [Cancellation], _ deadline: Deadline? = nil
    ) throws(Failure) -> [UInt8] {
        var line: [UInt8] = []
        while true {
            if cancellations.contains(where: \.isCancelled) { throw .cancelled }
            if deadline?.isOver ?? false { throw .ended }
            guard Readiness.wait(for: [descriptor], until: cancellations, atMost: deadline?.remaining)[0] else {
                continue
            }
            var byte: UInt8 = 0
            let count = recv(descriptor, &byte, 1, 0)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { throw .ended }
            if byte == 0x0A { return line }
            guard line.count < limit else { throw .tooLong(limit: limit) }
            line.append(byte)
        }
    }
}
