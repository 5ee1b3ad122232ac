// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKTransport
import YKWire

/// A card that answers as a closure says, and remembers what it was sent.
final class ScriptedLink: CardLink {
    let identity: CardIdentity
    private let log: Log
    private let answer: ([UInt8]) throws(LinkError) -> [UInt8]
    private var isLost: [Bool]

    /// What a link was sent, to look at after the link was handed over.
    final class Log: Sendable {
        private let state = Mutex<[[UInt8]]>([])
        var commands: [[UInt8]] { state.withLock { $0 } }
        var text: [String] { commands.map { Hex.encode($0) } }
        func append(_ command: [UInt8]) { state.withLock { $0.append(command) } }
    }

    static let yubiKey4: [UInt8] = [0x3B, 0xF8, 0x13, 0, 0, 0x81, 0x31, 0xFE, 0x15] + "Yubikey4".utf8 + [0xD4]
    static let unknown: [UInt8] = [0x3B, 0x80, 0x01, 0x81]

    init(
        atr: [UInt8] = yubiKey4, maxCommandLength: Int? = nil, log: Log = Log(), isLost: [Bool] = [],
        answer: sending @escaping ([UInt8]) throws(LinkError) -> [UInt8]
    ) {
        identity = CardIdentity(reader: "scripted", atr: atr, maxCommandLength: maxCommandLength)
        self.log = log
        self.answer = answer
        self.isLost = isLost
    }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        log.append(command)
        return try answer(command)
    }

    func begin(deadline: Deadline) throws(LinkError) -> Bool { isLost.isEmpty ? false : isLost.removeFirst() }
    func end() {}
    func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) {}
    func close() {}
}

/// Random bytes that count up.
struct CountingRandom: RandomSource {
    func draw(_ count: Int, secret: Bool) throws(LinkError) -> [UInt8] { (0..<count).map { UInt8($0 & 0xFF) } }
}

/// A world that stands still at a time.
func world(at time: Int64 = 59) -> ServiceEnvironment {
    ServiceEnvironment(random: CountingRandom(), clock: FixedClock(time), timeout: .seconds(5))
}
