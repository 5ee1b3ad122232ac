// SPDX-License-Identifier: Apache-2.0

import Testing
import YKWire

@testable import YKTransport

/// Readers whose answers are spoilt at random: whatever they say, an exchange ends, and nothing traps.
@Suite struct RandomReaderTests {
    /// SplitMix64, so that each run is the same.
    private struct Dice: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return value ^ value >> 31
        }
    }

    private static let levels: [(CCID.Descriptor.Features, UInt32)] = [
        (.extendedAPDU, 2), (.shortAPDU, 2), (.tpdu, 2), (.tpdu, 3), ([.tpdu, .blockSize, .selection], 3), (.tpdu, 0),
    ]

    /// What a reader says to a command: the truth, or something near it, or neither.
    private func spoilt(_ command: CCID.Command, _ dice: inout Dice) -> [ScriptedPipe.Step] {
        var reply = CCID.Reply(to: command, data: truth(command))
        switch Int.random(in: 0..<16, using: &dice) {
        case 0: reply.sequence &+= UInt8.random(in: 0...2, using: &dice)
        case 1: reply.status = UInt8.random(in: 0...255, using: &dice)
        case 2: reply.choice = UInt8.random(in: 0...4, using: &dice)
        case 3: reply.data = (0..<Int.random(in: 0..<300, using: &dice)).map { UInt8(truncatingIfNeeded: $0) }
        case 4: return [.fail(.stalled)] + ScriptedPipe.reply(reply)
        case 5: return [.news([0x50, UInt8.random(in: 0...3, using: &dice)])] + ScriptedPipe.reply(reply)
        case 6: return ScriptedPipe.reply(.init(to: command, .moreTime)) + ScriptedPipe.reply(reply)
        case 7: return []
        case 8: return ScriptedPipe.reply(reply) + ScriptedPipe.reply(reply)
        case 9: return [.fail(.link(.removed))]
        case 10: return [.data([])] + ScriptedPipe.reply(reply)
        default: break
        }
        var bytes = reply.encoded
        switch Int.random(in: 0..<8, using: &dice) {
        case 0: bytes[Int.random(in: 0..<bytes.count, using: &dice)] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
        case 1: bytes.removeLast(Int.random(in: 0..<bytes.count, using: &dice))
        case 2: bytes += [UInt8](repeating: 0xA5, count: Int.random(in: 1..<130, using: &dice))
        default: break
        }
        return [.data(bytes)]
    }

    private func truth(_ command: CCID.Command) -> [UInt8] {
        switch command.kind {
        case .powerOn: ScriptedPipe.atr
        case .transfer where command.data.first == 0xFF: command.data
        case .transfer where command.data.count > 3 && command.data[1] & 0xC0 == 0xC0:
            T1Block(.supervisory(.size, isResponse: true), [0xFE]).encoded()
        case .transfer where command.data.count > 3 && command.data[1] & 0x80 == 0:
            T1Block(.information(number: command.data[1] >> 6 & 1, isMore: false), [0x90, 0]).encoded()
        case .setParameters: command.data
        default: [0x90, 0]
        }
    }

    @Test(arguments: 0..<6)
    func everyExchangeEnds(index: Int) {
        let (features, protocols) = Self.levels[index]
        var dice = Dice(state: UInt64(index))
        var replies = 0
        for _ in 0..<500 {
            let pipe = ScriptedPipe { spoilt($0, &dice) }
            let descriptor = CCID.Descriptor(
                voltages: 7, protocols: protocols, features: features, maxMessageLength: UInt32(dice.next() % 600))
            let card = CCIDCard(CCIDSlot(pipe, descriptor))
            guard let link = try? USBCardLink(card, reader: "A reader", deadline: .after(.seconds(60))) else {
                #expect(pipe.isClosed)
                continue
            }
            for length in [4, 5, 12, 400] {
                let command = [UInt8](repeating: 0, count: length)
                guard let reply = try? link.exchange(command, deadline: .after(.seconds(60))) else {
                    _ = try? link.begin(deadline: .after(.seconds(60)))
                    continue
                }
                #expect(reply.count >= 2)
                replies += 1
            }
            link.close()
            #expect(pipe.isClosed && pipe.sent.count < 50_000)
        }
        #expect(replies > 25)
    }
}
