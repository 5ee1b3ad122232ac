// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import YKHardware
import YKSSH
import YKTransport

/// The socket of an agent: only its owner may open it, and it is removed when the agent ends.
final class AgentSocket: Sendable {
    /// The maximum message length (OpenSSH's agent has the same limit).
    private static let limit = 256 * 1024
    /// The maximum number of simultaneous clients.
    private static let clients = 256

    private let descriptor: Int32
    /// Its path.
    let path: String
    /// Whether it was created here, not by systemd.
    private let isOwn: Bool
    private let count = Atomic<Int>(0)

    /// Uses the socket passed by systemd (sd_listen_fds(3)), or else creates one at a path.
    init(_ path: () throws(Explanation) -> String) throws(Explanation) {
        isOwn = Variables["LISTEN_PID"] != "\(getpid())" || Variables["LISTEN_FDS"] != "1"
        if isOwn {
            let path = try path()
            descriptor = try Self.listen(at: path)
            self.path = path
        } else {
            descriptor = 3
            self.path = Self.path(of: descriptor)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
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

    /// Removes the socket, unless systemd made it.
    func end() { if isOwn { unlink(path) } }

    private static func listen(at path: String) throws(Explanation) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure("cannot make a socket") }
        var address = try address(path)
        if let status = FileStatus(path) {
            // A socket without a listener was left by an agent that was killed.
            guard !status.isRegular, !answers(path) else {
                close(descriptor)
                throw .usage(
                    "\(path.printable) is there already", hint: "name another socket with --socket PATH")
            }
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
            let failure = failure("cannot make the socket \(path.printable)")
            close(descriptor)
            throw failure
        }
        return descriptor
    }

    private static func failure(_ doing: String) -> Explanation {
        Explanation("socket", errno == EACCES ? .permission : .failed, "\(doing): \(System.failure)")
    }

    private static func address(_ path: String) throws(Explanation) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw .usage("the path of a socket has at most 107 bytes", hint: "name another one with --socket PATH")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return address
    }

    /// Connects to a socket; returns `nil` if nothing listens there.
    static func connect(_ path: String) -> Int32? {
        guard var address = try? address(path) else { return nil }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if connected == 0 { return descriptor }
        close(descriptor)
        return nil
    }

    private static func answers(_ path: String) -> Bool {
        guard let descriptor = connect(path) else { return false }
        close(descriptor)
        return true
    }

    /// Serves clients until ^C, each on a thread of its own.
    func serve(_ agent: SSHAgent) throws {
        try Interruption.awake { wake in
            while !Interruption.happened {
                var entries = [
                    pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
                ]
                // During a prompt the signal wakes the prompt's pipe, so this one may miss it.
                _ = poll(&entries, 2, 1000)
                guard entries[0].revents & Int16(POLLIN) != 0 else { continue }
                let client = Glibc.accept(descriptor, nil, nil)
                guard client >= 0 else { continue }
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                accept(client, agent)
            }
        }
    }

    private func accept(_ client: Int32, _ agent: SSHAgent) {
        let isWelcome = Self.belongsToUser(client) && count.load(ordering: .relaxed) < Self.clients
        guard isWelcome else {
            close(client)
            return
        }
        count.add(1, ordering: .relaxed)
        let isStarted = SystemThread.start { [self] in
            Self.serve(client, agent)
            close(client)
            count.subtract(1, ordering: .relaxed)
        }
        if !isStarted {
            close(client)
            count.subtract(1, ordering: .relaxed)
        }
    }

    /// Whether the client is a process of this user or of root.
    private static func belongsToUser(_ client: Int32) -> Bool {
        // struct ucred, which requires _GNU_SOURCE: process, user, group.
        var credentials: (pid_t, uid_t, gid_t) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(client, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else { return false }
        return credentials.1 == geteuid() || credentials.1 == 0
    }

    /// Answers a client's messages in order, until it disconnects.
    private static func serve(_ client: Int32, _ agent: SSHAgent) {
        let exchange = Exchange()
        while let message = receive(client) {
            let reply = exchange.reply(to: message, of: agent)
            guard send(reply, to: client) else { return }
        }
    }

    /// Forwards a message to the agent at another socket.
    static func pass(_ message: [UInt8], to path: String) -> [UInt8]? {
        guard let other = connect(path) else { return nil }
        defer { close(other) }
        return send(message, to: other) ? receive(other) : nil
    }

    /// Blocks a client's thread until the agent, which runs in tasks, answers.
    private final class Exchange: Sendable {
        private let state = Mutex((connection: SSHAgent.Connection(), reply: [UInt8]()))
        private let done = Semaphore()

        func reply(to message: [UInt8], of agent: SSHAgent) -> [UInt8] {
            Task {
                var connection = state.withLock { $0.connection }
                let reply = await agent.reply(to: message, on: &connection)
                let result = (connection, reply)
                state.withLock { $0 = result }
                done.post()
            }
            done.wait()
            return state.withLock { $0.reply }
        }
    }

    /// Reads a message: four length bytes, then type and content; `nil` at the end, or if it exceeds the limit.
    private static func receive(_ client: Int32) -> [UInt8]? {
        guard let head = read(4, from: client) else { return nil }
        let count = head.reduce(0) { $0 << 8 | Int($1) }
        guard (1...limit).contains(count) else { return nil }
        return read(count, from: client)
    }

    private static func read(_ count: Int, from client: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBytes {
                recv(client, $0.baseAddress?.advanced(by: filled), count - filled, 0)
            }
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { return nil }
            filled += got
        }
        return bytes
    }

    private static func send(_ message: [UInt8], to client: Int32) -> Bool {
        let length = UInt32(truncatingIfNeeded: message.count)
        var rest = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }[...] + message
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
