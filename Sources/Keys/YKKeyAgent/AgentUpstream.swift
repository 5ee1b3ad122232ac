// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import YKCrypto
import YKHardware
import YKTransport

/// The connection of one client to another agent. It is bound to the same sessions as the client's, so that the other
/// agent's restrictions apply to the client, too.
final class AgentUpstream {
    /// The timeout for the other agent to answer at all, and to list its keys.
    private static let patience = Duration.seconds(5)
    /// The timeout for requests that its user may have to confirm, or that load keys.
    private static let userPatience = Duration.seconds(120)
    private static let (listType, extensionType): (UInt8, UInt8) = (11, 27)
    /// How many clients may wait for the other agent at once, which also ends a loop of agents that use each other.
    private static let limit = 32
    private static let waiting = Atomic<Int>(0)

    private let path: String
    private let client: Int32
    private var descriptor: Int32?
    private var bindings: [[UInt8]] = []
    /// When the other agent last answered on this connection.
    private var answered = ContinuousClock.now

    /// - Parameters:
    ///   - path: The socket of the other agent.
    ///   - client: The client; if it hangs up, no one waits for the answer.
    init(_ path: String, for client: Int32) { (self.path, self.client) = (path, client) }

    /// Closes the connection.
    func end() {
        if let descriptor { close(descriptor) }
        descriptor = nil
    }

    /// Returns the other agent's reply; `nil` if there is none in time. Without a connection, a session binding is sent
    /// with the next message.
    func reply(to message: [UInt8]) -> [UInt8]? {
        defer { Self.waiting.subtract(1, ordering: .relaxed) }
        guard Self.waiting.add(1, ordering: .relaxed).newValue <= Self.limit else { return nil }
        let deadline = Deadline.after(Self.patience)
        if message.first == Self.extensionType {
            bindings.append(message)
            return send(message, deadline)
        }
        guard connect(deadline) else { return nil }
        if message.first == Self.listType { return send(message, deadline) }
        return isAnswering(deadline) ? send(message, .after(Self.userPatience)) : nil
    }

    /// Whether the other agent answers. It must list its keys before it is sent a request that its user may have to
    /// confirm, so that an agent that hangs does not get the longer timeout.
    private func isAnswering(_ deadline: Deadline) -> Bool {
        answered.duration(to: .now) < Self.patience || send([Self.listType], deadline) != nil
    }

    /// Connects to the other agent, and sends it the bindings; an agent that does not support them refuses them.
    private func connect(_ deadline: Deadline) -> Bool {
        if descriptor != nil { return true }
        guard let other = LocalSocket.connect(path, within: Self.patience) else { return false }
        _ = fcntl(other, F_SETFL, O_NONBLOCK)
        descriptor = other
        answered = .now - Self.patience
        // An agent that is its own upstream, or the upstream of its client, would ask itself for ever.
        let asking = [getpid(), PeerCredentials(of: client)?.process]
        guard !asking.contains(PeerCredentials(of: other)?.process) else {
            end()
            return false
        }
        return bindings.allSatisfy { send($0, deadline) != nil }
    }

    /// Sends a message over the connection and returns the reply; closes the connection if there is none. `nil` without
    /// a connection.
    private func send(_ message: [UInt8], _ deadline: Deadline) -> [UInt8]? {
        guard let descriptor else { return nil }
        let wait = { [client] in Self.wait(for: $0, on: descriptor, client, deadline) }
        if AgentStream.send(message, to: descriptor, wait), let reply = AgentStream.receive(descriptor, wait) {
            answered = .now
            return reply
        }
        end()
        return nil
    }

    /// Waits until the connection is ready; returns false when the time has elapsed, or the client has hung up.
    private static func wait(for events: Int32, on descriptor: Int32, _ client: Int32, _ deadline: Deadline) -> Bool {
        while !deadline.isOver {
            var entries = [
                pollfd(fd: descriptor, events: Int16(events), revents: 0),
                pollfd(fd: client, events: AgentClient.hangUp, revents: 0),
            ]
            let count = poll(&entries, 2, deadline.milliseconds())
            if entries[1].revents != 0 { return false }
            if count > 0 { return true }
        }
        return false
    }
}

/// Messages on the sockets of agents: four length bytes, then type and content.
package enum AgentStream {
    /// The maximum message length (OpenSSH's agent has the same limit).
    private static let limit = 256 * 1024

    /// Reads a message; `nil` at the end, or if it exceeds the limit.
    ///
    /// - Parameter wait: Waits for the descriptor to become ready, if it does not block itself; returns false to give up.
    package static func receive(_ descriptor: Int32, _ wait: (Int32) -> Bool = { _ in false }) -> [UInt8]? {
        guard let head = read(4, from: descriptor, wait) else { return nil }
        let count = head.reduce(0) { $0 << 8 | Int($1) }
        guard (1...limit).contains(count) else { return nil }
        return read(count, from: descriptor, wait)
    }

    private static func read(_ count: Int, from descriptor: Int32, _ wait: (Int32) -> Bool) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBytes {
                recv(descriptor, $0.baseAddress?.advanced(by: filled), count - filled, 0)
            }
            if got < 0, errno == EINTR || errno == EAGAIN && wait(POLLIN) { continue }
            guard got > 0 else { return nil }
            filled += got
        }
        return bytes
    }

    /// Writes a message, and overwrites its own copy.
    package static func send(_ message: [UInt8], to descriptor: Int32, _ wait: (Int32) -> Bool = { _ in false }) -> Bool
    {
        let length = UInt32(truncatingIfNeeded: message.count)
        var bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) } + message
        defer { Secret.wipe(&bytes) }
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress?.advanced(by: sent), $0.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR || errno == EAGAIN && wait(POLLOUT) { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}
