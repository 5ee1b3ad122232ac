// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import YKCrypto
import YKSSH

/// A client of the agent, served on a separate thread until it disconnects. That thread also communicates with the
/// upstream agent, if there is one, so that an upstream that does not answer delays no other client, and notices when the
/// client hangs up while the agent works for it.
final class AgentClient {
    /// POLLRDHUP, which requires _GNU_SOURCE: the peer has closed the connection, or will send nothing more. A forwarded
    /// client that ends does only the latter.
    static let hangUp: Int16 = 0x2000

    private let descriptor: Int32
    private let upstream: AgentUpstream?
    private let mailbox: Mailbox

    /// - Returns: `nil` if the system has no descriptors left.
    init?(_ descriptor: Int32, _ upstream: String?) {
        guard let mailbox = Mailbox() else { return nil }
        self.descriptor = descriptor
        self.mailbox = mailbox
        self.upstream = upstream.map { AgentUpstream($0, for: descriptor) }
    }

    /// A message from the agent, which runs in tasks, to the client's thread.
    private enum Letter: Sendable {
        case pass([UInt8], CheckedContinuation<[UInt8]?, Never>)
        case reply([UInt8], SSHAgent.Connection)
    }

    /// Letters to the client's thread. Its descriptor is readable while there are any.
    private final class Mailbox: Sendable {
        private let letters = Mutex<[Letter]>([])
        private let ends: (read: Int32, write: Int32)

        init?() {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { return nil }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            self.ends = (ends[0], ends[1])
        }

        deinit {
            close(ends.read)
            close(ends.write)
        }

        var descriptor: Int32 { ends.read }

        func put(_ letter: Letter) {
            letters.withLock { $0.append(letter) }
            var byte: UInt8 = 0
            while write(ends.write, &byte, 1) < 0, errno == EINTR {}
        }

        func take() -> Letter {
            var byte: UInt8 = 0
            while read(ends.read, &byte, 1) < 0, errno == EINTR {}
            return letters.withLock { $0.removeFirst() }
        }
    }

    /// A message, which may hold a passphrase, a PIN or a private key.
    private final class Message: Sendable {
        private let bytes: Mutex<[UInt8]>

        init(_ bytes: [UInt8]) { self.bytes = Mutex(bytes) }

        /// Hands over the message: the recipient has the only reference and overwrites it. With a second reference,
        /// only a copy would be overwritten.
        func take() -> [UInt8] {
            bytes.withLock { bytes in
                let taken = bytes
                bytes = []
                return taken
            }
        }
    }

    /// Answers the messages in order.
    func serve(_ agent: SSHAgent) {
        var connection = SSHAgent.Connection()
        if upstream != nil {
            connection = SSHAgent.Connection { [mailbox] message in
                await withCheckedContinuation { mailbox.put(.pass(message, $0)) }
            }
        }
        while let message = AgentStream.receive(descriptor).map(Message.init) {
            let task = begin(message, agent, connection)
            let reply = reply(&connection, from: task)
            guard AgentStream.send(reply, to: descriptor) else { break }
        }
        upstream?.end()
    }

    private func begin(_ message: Message, _ agent: SSHAgent, _ connection: SSHAgent.Connection) -> Task<Void, Never> {
        Task { [mailbox] in
            var connection = connection
            var bytes = message.take()
            let reply = await agent.reply(to: bytes, on: &connection)
            Secret.wipe(&bytes)
            mailbox.put(.reply(reply, connection))
        }
    }

    /// Passes messages on until the reply arrives. Cancels the task if the client hangs up.
    private func reply(_ connection: inout SSHAgent.Connection, from task: Task<Void, Never>) -> [UInt8] {
        var client = descriptor
        while true {
            var entries = [
                pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: client, events: Self.hangUp, revents: 0),
            ]
            guard poll(&entries, 2, -1) > 0 else { continue }
            if entries[1].revents != 0 {
                task.cancel()
                client = -1
            }
            guard entries[0].revents != 0 else { continue }
            switch mailbox.take() {
            case .pass(let message, let continuation): continuation.resume(returning: upstream?.reply(to: message))
            case .reply(let reply, let changed):
                connection = changed
                return reply
            }
        }
    }
}
