// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A card in a virtual reader that does what a test wants, however wrong (vpcd's protocol: every message has a length
/// of two bytes, most significant first, before it).
package final class VPCDCard: Sendable {
    /// What the card does with a command.
    package enum Reaction: Sendable {
        /// Answers with this response APDU.
        case reply([UInt8])
        /// Sends these bytes as they are, without a length before them.
        case raw([UInt8])
        /// Says nothing.
        case silence
        /// Goes away.
        case leave
    }

    private struct Log {
        var commands: [[UInt8]] = []
        var resets = 0
        var powerOffs = 0
    }

    /// The ATR of a YubiKey 5 over USB.
    package static let atr: [UInt8] = [
        0x3B, 0xFD, 0x13, 0x00, 0x00, 0x81, 0x31, 0xFE, 0x15, 0x80, 0x73, 0xC0, 0x21, 0xC0, 0x57, 0x59, 0x75, 0x62,
        0x69, 0x4B, 0x65, 0x79, 0x40,
    ]

    private let socket: LocalSocket
    private let log = Mutex(Log())

    /// Plugs a card into the reader that listens at `port`.
    package init(
        port: UInt16, atr: [UInt8] = VPCDCard.atr, _ react: @escaping @Sendable ([UInt8]) -> Reaction = VPCDCard.echo
    ) throws {
        socket = try LocalSocket(port: port)
        Thread.detachNewThread { [self] in
            while let message = receive() {
                guard message.count == 1 else {
                    if !answer(message, react) { return }
                    continue
                }
                switch message[0] {
                case 0: log.withLock { $0.powerOffs += 1 }
                case 2: log.withLock { $0.resets += 1 }
                case 4: send(atr)
                default: break
                }
            }
        }
    }

    /// Answers with the command and 9000.
    package static let echo: @Sendable ([UInt8]) -> Reaction = { .reply($0 + [0x90, 0x00]) }

    /// The commands that came so far.
    package var commands: [[UInt8]] { log.withLock { $0.commands } }
    /// How often the card was reset while it had power.
    package var resets: Int { log.withLock { $0.resets } }
    /// How often the card lost its power.
    package var powerOffs: Int { log.withLock { $0.powerOffs } }

    /// Pulls the card out.
    package func unplug() { socket.shutDown() }

    private func answer(_ command: [UInt8], _ react: @Sendable ([UInt8]) -> Reaction) -> Bool {
        log.withLock { $0.commands.append(command) }
        switch react(command) {
        case .reply(let response): send(response)
        case .raw(let bytes): socket.send(bytes)
        case .silence: break
        case .leave:
            unplug()
            return false
        }
        return true
    }

    private func receive() -> [UInt8]? {
        guard let head = socket.receive(exactly: 2) else { return nil }
        return socket.receive(exactly: Int(head[0]) << 8 | Int(head[1]))
    }

    private func send(_ message: [UInt8]) {
        socket.send(
            [UInt8(truncatingIfNeeded: message.count >> 8), UInt8(truncatingIfNeeded: message.count)] + message)
    }
}
