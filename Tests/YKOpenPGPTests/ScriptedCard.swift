// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKTestSupport
import YKTransport
import YKWire

@testable import YKOpenPGP

/// A card that answers as a recorded YubiKey 5.4.3 did, but for what a test says.
struct ScriptedCard {
    /// The maker in the AID.
    var manufacturer: UInt16 = 6
    /// The answer to GET VERSION in binary-coded decimal; other cards than YubiKeys have none.
    var firmware: [UInt8]? = [0x05, 0x04, 0x03]
    /// Objects of the application related data that are others; without a value they are missing.
    var objects: [TLV.Tag: [UInt8]?] = [:]
    /// Answers by the first hexadecimal digits of a command, before all others. An answer may change with each command.
    var answers: [(String, [Answer])] = []

    struct Answer {
        let status: UInt16
        var data: [UInt8] = []
    }

    /// Answers a command with a status word.
    func answering(_ command: String, _ status: UInt16, _ data: [UInt8] = []) -> ScriptedCard {
        var card = self
        card.answers.append((command, [Answer(status: status, data: data)]))
        return card
    }

    /// Answers a command with each of these in turn, and with the last one for ever.
    func answering(_ command: String, inTurn answers: [Answer]) -> ScriptedCard {
        var card = self
        card.answers.append((command, answers))
        return card
    }

    func with(_ tag: TLV.Tag, _ value: [UInt8]?) -> ScriptedCard {
        var card = self
        card.objects[tag] = .some(value)
        return card
    }

    /// Application related data (6E).
    private func status() throws -> [UInt8] {
        let outer = try TLV.list(TLV.list(Hex.decode(StatusTests.device)).required(0x6E, "status"))
        let inner = try TLV.list(outer.required(0x73, "discretionary objects"))
        var list = (outer.filter { $0.tag != 0x73 } + inner).filter { objects[$0.tag] == nil }
        for (tag, value) in objects { if let value { list.append(TLV(tag, value)) } }
        let bytes = [UInt8(truncatingIfNeeded: manufacturer >> 8), UInt8(truncatingIfNeeded: manufacturer)]
        return list.map { object in
            guard object.tag == 0x4F else { return object }
            return TLV(0x4F, Array(object.value[..<8]) + bytes + object.value[10...])
        }.encoded
    }

    func open(_ log: ScriptedLink.Log = ScriptedLink.Log()) async throws -> OpenPGPService {
        try await OpenPGPService.open(channel(log))
    }

    func channel(_ log: ScriptedLink.Log = ScriptedLink.Log()) throws -> sending CardChannel {
        let usual: [(String, [UInt8])] = [
            ("00a40400", [0x90, 0x00]), ("00ca006e", try status() + [0x90, 0x00]),
            ("00ca00c4", [1, 0x7F, 0x7F, 0x7F, 2, 0, 2, 0x90, 0x00]), ("00ca00f9", [0x81, 1, 0, 0x90, 0x00]),
            ("00f10000", firmware.map { $0 + [0x90, 0x00] } ?? [0x6D, 0x00]), ("00ca00fa", [0x6A, 0x88]),
            ("00a5", [0x90, 0x00]), ("0020", [0x90, 0x00]), ("00da", [0x90, 0x00]), ("00db", [0x90, 0x00]),
            ("0024", [0x90, 0x00]), ("002c", [0x90, 0x00]),
        ]
        let answers = answers
        let turns = Turns()
        let link = ScriptedLink(log: log) { command in
            let text = Hex.encode(command)
            if let index = answers.firstIndex(where: { text.hasPrefix($0.0) }) {
                let list = answers[index].1
                let answer = list[min(turns.next(index), list.count - 1)]
                return ResponseAPDU(StatusWord(answer.status), data: answer.data).encoded
            }
            return usual.first { text.hasPrefix($0.0) }?.1 ?? [0x6D, 0x00]
        }
        return CardChannel(
            link: link, environment: ServiceEnvironment(clock: FixedClock(1_577_836_800), timeout: .seconds(5)))
    }

    /// How often each answer was given.
    private final class Turns: Sendable {
        private let state = Mutex<[Int: Int]>([:])
        func next(_ index: Int) -> Int {
            state.withLock { counts in
                defer { counts[index, default: 0] += 1 }
                return counts[index, default: 0]
            }
        }
    }
}
