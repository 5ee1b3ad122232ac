// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKPIV
import YKTransport
import YKWire

/// A card that answers as a closure says, and remembers what it was sent.
final class ScriptedLink: CardLink {
    let identity: CardIdentity
    private let log: Log
    private let answer: ([UInt8]) throws(LinkError) -> [UInt8]

    /// What a link was sent, to look at after the link was handed over.
    final class Log: Sendable {
        private let state = Mutex<[[UInt8]]>([])
        var commands: [[UInt8]] { state.withLock { $0 } }
        func append(_ command: [UInt8]) { state.withLock { $0.append(command) } }
    }

    static let yubiKey4: [UInt8] = [0x3B, 0xF8, 0x13, 0, 0, 0x81, 0x31, 0xFE, 0x15] + "Yubikey4".utf8 + [0xD4]
    static let unknown: [UInt8] = [0x3B, 0x80, 0x01, 0x81]

    init(
        atr: [UInt8] = yubiKey4, log: Log = Log(),
        answer: sending @escaping ([UInt8]) throws(LinkError) -> [UInt8]
    ) {
        identity = CardIdentity(reader: "scripted", atr: atr)
        self.log = log
        self.answer = answer
    }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        log.append(command)
        return try answer(command)
    }

    func begin(deadline: Deadline) throws(LinkError) -> Bool { false }
    func end() {}
    func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) {}
    func close() {}

    /// A service on a card of a version that answers one instruction as said, and any other with `usual`.
    static func service(
        version: [UInt8] = [5, 7, 1], atr: [UInt8] = yubiKey4, log: Log = Log(), usual: [UInt8] = [0x6A, 0x82],
        _ answers: [UInt8: [UInt8]]
    ) async throws -> PIVService {
        let link = ScriptedLink(atr: atr, log: log) { command in
            switch command[1] {
            case 0xA4: [0x90, 0x00]
            case 0xFD where answers[0xFD] == nil: version + [0x90, 0x00]
            default: answers[command[1]] ?? usual
            }
        }
        return try await PIVService.open(CardChannel(link: link, environment: .still))
    }
}
