// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKVirtualKey
import YKVirtualKeyHost
import YKWire

@testable import YKHardware
@testable import YKTransport

/// Talking to a reader on the USB rather than to the card in it.
@Suite struct EscapeTests {
    private let deadline = Deadline.after(.seconds(5))
    private static let escape: UInt32 = 0x4200_0001

    /// A reader that answers an escape with steps, and the card with success.
    private func pipe(_ escape: @escaping (CCID.Command) -> [ScriptedPipe.Step]) -> ScriptedPipe {
        ScriptedPipe { command in
            switch command.kind {
            case .powerOn: ScriptedPipe.reply(.init(to: command, data: ScriptedPipe.atr))
            case .escape: escape(command)
            case .transfer: ScriptedPipe.reply(.init(to: command, data: [0x90, 0]))
            default: ScriptedPipe.reply(.init(to: command))
            }
        }
    }

    private func failure(_ escape: @escaping (CCID.Command) -> [ScriptedPipe.Step]) throws -> LinkError? {
        let link = try pipe(escape).link()
        do {
            _ = try link.control(Self.escape, [1, 2], deadline: deadline)
            return nil
        } catch { return error }
    }

    private func isMalformed(_ error: LinkError?) -> Bool { if case .malformed = error { true } else { false } }

    @Test func bytesGoToTheReaderAndBack() throws {
        for size in [0, 1, 54, 118, 261] {
            let answer = [UInt8](repeating: 7, count: size)
            let pipe = pipe { ScriptedPipe.reply(.init(to: $0, data: answer)) }
            let link = try pipe.link()
            try expect(link.control(Self.escape, [0xE0, 0, 0, 0x18, 0], deadline: deadline), is: answer)
            #expect(pipe.sent.last?.kind == .escape && pipe.sent.last?.data == [0xE0, 0, 0, 0x18, 0])
            try expect(link.exchange([0, 0xA4, 4, 0], deadline: deadline), is: [0x90, 0])
        }
    }

    @Test func aReaderThatDoesNotKnowItHarmsNothing() throws {
        let slotStatus = pipe { ScriptedPipe.reply(.init(to: $0, as: .slotStatus)) }
        #expect(throws: LinkError.unsupportedFeature) {
            try slotStatus.link().control(Self.escape, [1], deadline: deadline)
        }
        let pipe = pipe { ScriptedPipe.reply(.init(to: $0, .failed, error: .unsupported)) }
        let link = try pipe.link()
        #expect(throws: LinkError.unsupportedFeature) { try link.control(Self.escape, [1], deadline: deadline) }
        try expect(link.exchange([0, 0xA4, 4, 0], deadline: deadline), is: [0x90, 0])
        #expect(throws: LinkError.unsupportedFeature) { try link.control(0x4200_0002, [], deadline: deadline) }
        #expect(throws: LinkError.unsupportedFeature) { try link.attribute(0x0001_0100, deadline: deadline) }
        let long = [UInt8](repeating: 0, count: 262)
        #expect(throws: LinkError.failed(code: 0, "the reader accepts messages of at most 261 bytes")) {
            try link.control(Self.escape, long, deadline: deadline)
        }
        try expect(link.exchange([0, 0xA4, 4, 0], deadline: deadline), is: [0x90, 0])
    }

    @Test func featuresAndConnection() throws {
        let link = try pipe { ScriptedPipe.reply(.init(to: $0)) }.link()
        let features = try link.control(0x4200_0D48, [], deadline: deadline)
        expect(ReaderFeatures.controlCode(of: 0x13, in: features), is: Self.escape)
        let connection = try link.connection(deadline: deadline)
        expect(connection, is: CardConnection(state: 0x54, activeProtocol: 2, atr: ScriptedPipe.atr))
        let t0 = try VirtualPipe(level: .t0).link(level: .t0)
        try expect(t0.connection(deadline: deadline).activeProtocol, is: 1)
        link.close()
        #expect(throws: LinkError.removed) { try link.connection(deadline: deadline) }
        #expect(throws: LinkError.removed) { try link.control(Self.escape, [], deadline: deadline) }
    }

    @Test func repliesThatLie() throws {
        #expect(isMalformed(try failure { [.data([0x83, 0xFF, 0xFF, 0xFF, 0xFF, 0, $0.sequence, 0, 0, 0])] }))
        #expect(isMalformed(try failure { [.data(CCID.Reply(to: $0, as: .dataBlock, data: [0x90, 0]).encoded)] }))
        #expect(isMalformed(try failure { [.data(CCID.Reply(to: $0, data: [1]).encoded + [9, 9])] }))
        #expect(isMalformed(try failure { [.data(Array(CCID.Reply(to: $0, data: [1, 2, 3]).encoded.prefix(11)))] }))
        #expect(isMalformed(try failure { [.data(CCID.Reply(.escape, sequence: $0.sequence, status: 0xC0).encoded)] }))
        try expect(failure { _ in [] }, is: .timedOut("the reader's answer"))
        try expect(failure { _ in [.fail(.link(.removed))] }, is: .removed)
        try expect(
            failure { [.data(CCID.Reply(to: $0, .moreTime).encoded), .data(CCID.Reply(to: $0).encoded)] }, is: nil)
        let endless = try failure { command in
            (0...10_001).map { _ in .data(CCID.Reply(to: command, .moreTime).encoded) }
        }
        expect(endless, is: .unresponsive("the card asked for more time 10001 times"))
        let broken = try failure { ScriptedPipe.reply(.init(to: $0, .failed, error: .hardware)) }
        expect(broken, is: .unresponsive("the reader's hardware failed"))
    }

    @Test("after a reply that lies the card is reset before it is used")
    func outOfStep() throws {
        var isFirst = true
        let pipe = pipe { command in
            defer { isFirst = false }
            return isFirst ? [.data([0x83, 1])] : ScriptedPipe.reply(.init(to: command, data: [5]))
        }
        let link = try pipe.link()
        #expect(throws: LinkError.self) { try link.control(Self.escape, [1], deadline: deadline) }
        #expect(throws: LinkError.reset) { try link.exchange([0, 0xA4, 4, 0], deadline: deadline) }
        #expect(try link.begin(deadline: deadline))
        try expect(link.control(Self.escape, [1], deadline: deadline), is: [5])
    }

    @Test("the reader of a key knows no escapes")
    func virtual() throws {
        let link = try VirtualPipe(level: .extended).link(level: .extended)
        #expect(throws: LinkError.unsupportedFeature) { try link.control(Self.escape, [1], deadline: deadline) }
    }

    @Test("taken out: the state says so, and says so again")
    func takenOut() throws {
        let pipe = ScriptedPipe { command in
            let card: CCID.Reply.Card = command.kind == .slotStatus ? .absent : .active
            return ScriptedPipe.reply(
                .init(to: command, card: card, data: command.kind == .powerOn ? ScriptedPipe.atr : []))
        }
        let link = try pipe.link()
        try expect(link.connection(deadline: deadline).state, is: 0x54)
        pipe.tell([0x50, 0x02])
        for _ in 0..<2 { #expect(throws: LinkError.removed) { try link.connection(deadline: deadline) } }
        #expect(throws: LinkError.removed) { try link.begin(deadline: deadline) }
    }
}
