// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKCrypto
import YKSSH
import YKTransport

/// A client of the agent, served on a separate thread until it disconnects. That thread also communicates with the
/// upstream agent, if there is one, so that an upstream that does not answer delays no other client.
final class AgentClient {
    private let descriptor: Int32
    private let upstream: AgentUpstream?
    private let mailbox = Mailbox()

    init(_ descriptor: Int32, _ upstream: String?) {
        self.descriptor = descriptor
        self.upstream = upstream.map { AgentUpstream($0, for: descriptor) }
    }

    /// A message from the agent, which runs in tasks, to the client's thread.
    private enum Letter: Sendable {
        case pass([UInt8], CheckedContinuation<[UInt8]?, Never>)
        case reply([UInt8], SSHAgent.Connection)
    }

    private final class Mailbox: Sendable {
        private let letters = Mutex<[Letter]>([])
        private let count = Semaphore()

        func put(_ letter: Letter) {
            letters.withLock { $0.append(letter) }
            count.post()
        }

        func take() -> Letter {
            count.wait()
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
            begin(message, agent, connection)
            let reply = reply(&connection)
            guard AgentStream.send(reply, to: descriptor) else { break }
        }
        upstream?.end()
    }

    private func begin(_ message: Message, _ agent: SSHAgent, _ connection: SSHAgent.Connection) {
        Task { [mailbox] in
            var connection = connection
            var bytes = message.take()
            let reply = await agent.reply(to: bytes, on: &connection)
            Secret.wipe(&bytes)
            mailbox.put(.reply(reply, connection))
        }
    }

    /// Passes messages on until the reply arrives.
    private func reply(_ connection: inout SSHAgent.Connection) -> [UInt8] {
        while true {
            switch mailbox.take() {
            case .pass(let message, let continuation): continuation.resume(returning: upstream?.reply(to: message))
            case .reply(let reply, let changed):
                connection = changed
                return reply
            }
        }
    }
}
