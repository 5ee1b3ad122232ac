// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

@testable import YKTransport

/// Readers that leave the choice of protocol and speed to the host.
@Suite struct SelectionTests {
    /// T=0, then T=1.
    private let both: [UInt8] = [0x3B, 0x80, 0x80, 0x01, 0x01]
    private let fast = ScriptedPipe.atr

    /// Powers a card, and gives what it was sent, or why it does not work.
    private func power(
        _ atr: [UInt8], _ features: CCID.Descriptor.Features = .tpdu, protocols: UInt32 = 3, rate: UInt32 = 307_200,
        parameters: CCID.Failure? = nil, answer: @escaping ([UInt8]) -> [UInt8]? = { $0 }
    ) -> (sent: [CCID.Command], failure: LinkError?) {
        let pipe = ScriptedPipe { command in
            switch command.kind {
            case .powerOn: return ScriptedPipe.reply(.init(to: command, data: atr))
            case .setParameters:
                guard let parameters else { return ScriptedPipe.reply(.init(to: command, data: command.data)) }
                return ScriptedPipe.reply(.init(to: command, .failed, error: parameters))
            case .transfer where command.data.first == 0xFF:
                guard let data = answer(command.data) else {
                    return ScriptedPipe.reply(.init(to: command, .failed, error: .mute))
                }
                return ScriptedPipe.reply(.init(to: command, data: data))
            default: return ScriptedPipe.reply(.init(to: command, data: []))
            }
        }
        let descriptor = CCID.Descriptor(
            protocols: protocols, maxRate: rate, maxBlockSize: 32, features: features, maxMessageLength: 271)
        let card = CCIDCard(CCIDSlot(pipe, descriptor))
        do throws(LinkError) {
            try card.powerOn(deadline: .after(.seconds(5)))
            return (pipe.sent, nil)
        } catch { return (pipe.sent, error) }
    }

    private func selections(_ sent: [CCID.Command]) -> [[UInt8]] {
        sent.filter { $0.kind == .transfer && $0.data.first == 0xFF }.map(\.data)
    }

    /// Protocol and speed that the reader was told last.
    private func told(_ sent: [CCID.Command]) -> [UInt8]? {
        sent.last { $0.kind == .setParameters }.map { [$0.choice, $0.data[0]] }
    }

    @Test func aFastCardIsAskedForItsSpeed() {
        let (sent, failure) = power(fast)
        #expect(failure == nil && selections(sent) == [[0xFF, 0x11, 0x13, 0xFD]] && told(sent) == [1, 0x13])
    }

    @Test func notWhereTheReaderAsksOrIsTooSlow() {
        let slow = power(fast, rate: 20_000)
        #expect(slow.failure == nil && selections(slow.sent).isEmpty && told(slow.sent) == [1, 0x11])
        for feature: CCID.Descriptor.Features in [.selection, .negotiation] {
            let (sent, failure) = power(fast, [.tpdu, feature])
            #expect(failure == nil && selections(sent).isEmpty)
        }
        let odd = power([0x3B, 0x90, 0x71, 0x01, 0xE0])
        #expect(odd.failure == nil && selections(odd.sent).isEmpty)
    }

    @Test(arguments: [nil, [], [0xFF, 0x01, 0x95, 0x6B], [0xFF, 0x10, 0x13, 0xFC], [1, 2, 3]] as [[UInt8]?])
    func aCardThatDoesNotAgreeIsResetAndTalkedToSlowly(answer: [UInt8]?) {
        let (sent, failure) = power(fast) { _ in answer }
        #expect(failure == nil && selections(sent).count == 1 && told(sent) == [1, 0x11])
        expect(sent.map(\.kind).prefix(4), is: [.powerOn, .transfer, .powerOff, .powerOn])
    }

    @Test func aCardMayAgreeToTheProtocolAlone() {
        let (sent, failure) = power(fast) { _ in [0xFF, 0x01, 0xFE] }
        #expect(failure == nil && told(sent) == [1, 0x11] && sent.count { $0.kind == .powerOn } == 1)
    }

    @Test func aProtocolThatTheReaderCannotCarryIsNotUsed() {
        let first = power(both)
        #expect(first.failure == nil && first.sent.map(\.kind) == [.powerOn])
        let second = power(both, protocols: 2)
        #expect(
            second.failure == nil && selections(second.sent) == [[0xFF, 0x01, 0xFE]] && told(second.sent) == [1, 0x11])
        let byReader = power(both, [.tpdu, .selection], protocols: 2)
        #expect(byReader.failure == nil && selections(byReader.sent).isEmpty && told(byReader.sent) == [1, 0x11])
        guard case .unresponsive(let why)? = power(both, protocols: 2, answer: { _ in nil }).failure else {
            Issue.record("a card that does not agree")
            return
        }
        #expect(why.contains("T=1"))
        let nothing = power(ScriptedPipe.atr, protocols: 1)
        guard case .unresponsive? = nothing.failure else {
            Issue.record("a reader for other cards")
            return
        }
        expect(power(both, protocols: 0).failure, is: nil)
    }

    @Test func aCardThatCannotBeAskedIsFollowed() {
        let (sent, failure) = power([0x3B, 0x90, 0x13, 0x11, 0x01, 0x93])
        #expect(failure == nil && selections(sent).isEmpty && told(sent) == [1, 0x13])
        #expect(power([0x3B, 0x90, 0x13, 0x11, 0x05, 0x97]).failure != nil)
        let t0 = power([0x3B, 0x90, 0x13, 0x10, 0x00])
        #expect(t0.failure == nil && told(t0.sent) == [0, 0x13])
    }

    @Test func aReaderThatDoesNotTakeTheSpeedIsNoUse() {
        #expect(power(fast, parameters: .unsupported).failure != nil)
        expect(power(fast, rate: 1, parameters: .unsupported).failure, is: nil)
        #expect(power(fast, rate: 1, parameters: .mute).failure != nil)
    }

    @Test func aCardThatIsGoneOrGetsNoPowerTheSecondTime() {
        var count = 0
        let pipe = ScriptedPipe { command in
            count += 1
            switch count {
            case 1: return ScriptedPipe.reply(.init(to: command, data: ScriptedPipe.atr))
            case 3: return ScriptedPipe.reply(.init(to: command))
            default: return ScriptedPipe.reply(.init(to: command, card: .inactive, .failed, error: .mute))
            }
        }
        let descriptor = CCID.Descriptor(features: .tpdu)
        #expect(throws: LinkError.self) {
            try CCIDCard(CCIDSlot(pipe, descriptor)).powerOn(deadline: .after(.seconds(5)))
        }
        expect(pipe.sent.map(\.kind), is: [.powerOn, .transfer, .powerOff, .powerOn])
        let gone = ScriptedPipe { command in
            command.kind == .powerOn
                ? ScriptedPipe.reply(.init(to: command, data: ScriptedPipe.atr))
                : ScriptedPipe.reply(.init(to: command, card: .absent, .failed, error: .mute))
        }
        #expect(throws: LinkError.removed) {
            try CCIDCard(CCIDSlot(gone, descriptor)).powerOn(deadline: .after(.seconds(5)))
        }
    }
}
