// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import YKHardware
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

    private static func listen(at path: String) throws(AgentSocketError) -> Int32 {
        do { return try LocalSocket.listen(at: path) } catch {
            switch error {
            case .listens(let path): throw .agentListens(path: path)
            case .exists(let path): throw .exists(path: path)
            case .unsuitablePath: throw .unsuitablePath
            case .failed(let path, let number): throw .failed(path: path, number: number)
            }
        }
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
