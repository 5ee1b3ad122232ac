// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKTransport
import YKWire

/// A card that answers as a closure says. What it was sent can be looked at after the link was handed over.
final class ScriptedLink: CardLink {
    final class Log: Sendable {
        private let state = Mutex<[String]>([])
        var lines: [String] { state.withLock { $0 } }
        func append(_ line: String) { state.withLock { $0.append(line) } }
    }

    let identity: CardIdentity
    private let log: Log
    private var isLost: [Bool]
    private let answer: ([UInt8]) throws(LinkError) -> [UInt8]

    static let extendedATR: [UInt8] = [0x3B, 0x85, 0x80, 0x01, 0x80, 0x73, 0xC0, 0x21, 0xC0, 0xD6]
    static let silentATR: [UInt8] = [0x3B, 0xF7, 0x11, 0x00, 0x00, 0x81, 0x31, 0xFE, 0x65] + "Canokey".utf8 + [0x99]

    init(
        atr: [UInt8] = silentATR, maxCommandLength: Int? = nil, log: Log = Log(), isLost: [Bool] = [],
        answer: sending @escaping ([UInt8]) throws(LinkError) -> [UInt8]
    ) {
        identity = CardIdentity(reader: "scripted", atr: atr, maxCommandLength: maxCommandLength)
        self.log = log
        self.isLost = isLost
        self.answer = answer
    }

    /// A card that gives these replies in turn, whatever it is sent; then it is gone.
    convenience init(
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

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        log.append(Hex.encode(command))
        return try answer(command)
    }

    func begin(deadline: Deadline) throws(LinkError) -> Bool {
        log.append("begin")
        return isLost.isEmpty ? false : isLost.removeFirst()
    }

    func end() { log.append("end") }
    func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) { log.append("reset \(kind)") }
    func close() { log.append("close") }
}

/// Random bytes that count up.
struct CountingRandom: RandomSource {
    func draw(_ count: Int, secret: Bool) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 + 1) } }
}
