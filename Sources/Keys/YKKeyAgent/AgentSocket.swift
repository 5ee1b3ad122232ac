// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
public import YKSSH
public import YKTransport

/// Why the socket of an agent could not be created.
public enum AgentSocketError: Error, Hashable, Sendable {
    /// Another agent listens at this path.
    case agentListens(path: String)
    /// Something other than a socket is at this path.
    case exists(path: String)
    /// The path is empty, or longer than 107 bytes.
    case unsuitablePath
    /// The system refused, with its error number; the path is `nil` if no socket could be created at all.
    case failed(path: String?, number: Int32)
}

/// The socket of an agent: only its owner may open it, and it is removed when the agent ends.
public final class AgentSocket: Sendable {
    /// The maximum number of simultaneous clients, and of those with the same process: all clients on one other machine
    /// come through one ssh.
    private static let (clients, clientsOfProcess) = (256, 64)

    private let descriptor: Int32
    /// Its path.
    public let path: String
    /// The file that was created here; `nil` if systemd created the socket.
    private let file: SocketFile?
    /// The number of clients by process.
    private let counts = Mutex<[pid_t: Int]>([:])

    /// Creates a socket at a path; a socket left there by a killed agent is replaced.
    public init(at path: String) throws(AgentSocketError) {
        descriptor = try Self.listen(at: path)
        self.path = path
        file = SocketFile(path)
    }

    /// Uses a socket that already listens, such as descriptor 3 from systemd (sd_listen_fds(3)).
    public init(descriptor: Int32) {
        self.descriptor = descriptor
        path = Self.path(of: descriptor)
        file = nil
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    private static func path(of descriptor: Int32) -> String {
        var address = sockaddr_un()
        var size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        guard status == 0, address.sun_family == sa_family_t(AF_UNIX) else { return "" }
        return withUnsafeBytes(of: address.sun_path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    deinit { end() }

    /// Removes the socket, unless systemd created it or the path now belongs to a different file.
    public func end() { if let file, SocketFile(path) == file { unlink(path) } }

    /// A socket in the file system.
    private struct SocketFile: Equatable {
        private let device: dev_t
        private let number: ino_t

        /// Reads the status of a path without following links; `nil` unless it is a socket.
        init?(_ path: String) {
            var info = stat()
            guard lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFSOCK else { return nil }
            (device, number) = (info.st_dev, info.st_ino)
        }
    }

    private static func listen(at path: String) throws(AgentSocketError) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .failed(path: nil, number: errno) }
        var address = try address(path)
        if SocketFile(path) != nil {
            guard !answers(path) else {
                close(descriptor)
                throw .agentListens(path: path)
            }
            // A socket without a listener was left by an agent that was killed.
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

    private static func address(_ path: String) throws(AgentSocketError) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw .unsuitablePath
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return address
    }

    /// Connects to a socket; returns `nil` if nothing listens there or the connection is not accepted in time.
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

    /// Serves clients, each on a separate thread, until it is cancelled.
    ///
    /// - Parameters:
    ///   - upstream: The socket of the agent to which requests for other keys are passed on.
    ///   - cancellation: Ends the loop within a second.
    ///   - wake: A descriptor that becomes readable to end it immediately; -1 for none.
    public func serve(_ agent: SSHAgent, upstream: String? = nil, until cancellation: Cancellation, wake: Int32 = -1) {
        while !cancellation.isCancelled {
            var entries = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
            ]
            // Another reader of the wake descriptor may be woken instead of this one, so the wait is limited.
            _ = poll(&entries, 2, 1000)
            guard entries[0].revents & Int16(POLLIN) != 0 else { continue }
            let client = Glibc.accept(descriptor, nil, nil)
            guard client >= 0 else { continue }
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            accept(client, agent, upstream)
        }
    }

    private func accept(_ client: Int32, _ agent: SSHAgent, _ upstream: String?) {
        guard let peer = PeerCredentials(of: client), peer.user == geteuid() || peer.user == 0, begin(peer.process)
        else {
            close(client)
            return
        }
        let isStarted = SystemThread.start { [self] in
            AgentClient(client, upstream)?.serve(agent)
            close(client)
            end(peer.process)
        }
        if !isStarted {
            close(client)
            end(peer.process)
        }
    }

    /// Counts a client; returns false if there are too many.
    private func begin(_ process: pid_t) -> Bool {
        counts.withLock { counts in
            let count = counts[process] ?? 0
            guard count < Self.clientsOfProcess, counts.values.reduce(0, +) < Self.clients else { return false }
            counts[process] = count + 1
            return true
        }
    }

    private func end(_ process: pid_t) {
        counts.withLock { counts in
            let count = (counts[process] ?? 1) - 1
            counts[process] = count == 0 ? nil : count
        }
    }
}

/// The process at the other end of a socket when it was connected, or when it began to listen (`SO_PEERCRED`, unix(7)).
struct PeerCredentials {
    let process: pid_t
    let user: uid_t

    init?(of socket: Int32) {
        // struct ucred, which requires _GNU_SOURCE: process, user, group.
        var credentials: (pid_t, uid_t, gid_t) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else { return nil }
        (process, user) = (credentials.0, credentials.1)
    }
}
