// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import YKTransport
import YKWire

/// A card that answers as a closure says. What it was sent can be looked at after the link was handed over.
package final class ScriptedLink: CardLink {
    /// What a link was sent and called.
    package final class Log: Sendable {
        private let state = Mutex((lines: [String](), commands: [[UInt8]]()))

        package init() {}

        /// The commands.
        package var commands: [[UInt8]] { state.withLock { $0.commands } }
        /// The commands in hexadecimal.
        package var text: [String] { commands.map { Hex.encode($0) } }
        /// The commands in hexadecimal, and between them "begin", "end", "reset" and "close".
        package var lines: [String] { state.withLock { $0.lines } }

        package func append(_ command: [UInt8]) {
            state.withLock {
                $0.commands.append(command)
                $0.lines.append(Hex.encode(command))
            }
        }

        fileprivate func append(call: String) { state.withLock { $0.lines.append(call) } }
    }

    package let identity: CardIdentity
    private let log: Log
    private var isLost: [Bool]
    private let answer: ([UInt8]) throws(LinkError) -> [UInt8]

    package static let yubiKey4: [UInt8] =
        [0x3B, 0xF8, 0x13, 0, 0, 0x81, 0x31, 0xFE, 0x15] + "Yubikey4".utf8 + [0xD4]
    package static let unknown: [UInt8] = [0x3B, 0x80, 0x01, 0x81]
    package static let extendedATR: [UInt8] = [0x3B, 0x85, 0x80, 0x01, 0x80, 0x73, 0xC0, 0x21, 0xC0, 0xD6]
    package static let silentATR: [UInt8] =
        [0x3B, 0xF7, 0x11, 0x00, 0x00, 0x81, 0x31, 0xFE, 0x65] + "Canokey".utf8 + [0x99]

    /// A card; `isLost` tells in turn whether each transaction finds that another program used it.
    package init(
        reader: String = "scripted", atr: [UInt8] = yubiKey4, maxCommandLength: Int? = nil, log: Log = Log(),
        isLost: [Bool] = [], answer: sending @escaping ([UInt8]) throws(LinkError) -> [UInt8]
    ) {
        identity = CardIdentity(reader: reader, atr: atr, maxCommandLength: maxCommandLength)
        self.log = log
        self.isLost = isLost
        self.answer = answer
    }

    /// A card that gives these replies in turn, whatever it is sent; then it is gone.
    package convenience init(
        _ replies: [String], atr: [UInt8] = silentATR, maxCommandLength: Int? = nil, log: Log = Log(),
        isLost: [Bool] = []
    ) {
        var rest = replies[...]
        self.init(atr: atr, maxCommandLength: maxCommandLength, log: log, isLost: isLost) {
            (_) throws(LinkError) -> [UInt8] in
            guard let reply = rest.popFirst() else { throw .removed }
            return (try? Hex.decode(reply)) ?? []
        }
    }

    package func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        log.append(command)
        return try answer(command)
    }

    package func begin(deadline: Deadline) throws(LinkError) -> Bool {
        log.append(call: "begin")
        return isLost.isEmpty ? false : isLost.removeFirst()
    }

    package func end() { log.append(call: "end") }
    package func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) { log.append(call: "reset \(kind)") }
    package func close() { log.append(call: "close") }
}
