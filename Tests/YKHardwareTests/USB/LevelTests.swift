// SPDX-License-Identifier: Apache-2.0

import Testing
import YKProtocols
import YKTestSupport
import YKVirtualKey
import YKVirtualKeyHost
import YKWire

@testable import YKTransport

/// The virtual key through readers of every exchange level.
@Suite struct LevelTests {
    private let select = APDU.select(.oath)

    private func channel(_ level: ReaderLevel, _ faults: String = "") throws -> (CardChannel, VirtualPipe.Log) {
        let log = VirtualPipe.Log()
        let pipe = try VirtualPipe(level: level, faults: faults, log: log)
        let environment = ServiceEnvironment(timeout: .seconds(60))
        return (CardChannel(link: try pipe.link(level: level), environment: environment), log)
    }

    @Test(arguments: ReaderLevel.allCases)
    func longCommandsAndLongResponses(level: ReaderLevel) throws {
        let (channel, pipe) = try channel(level)
        channel.continuation = 0xA5
        expect(channel.identity.takesExtendedLength, is: [.extended, .t1].contains(level))
        #expect(try !channel.select(.oath).isEmpty)
        let secret = [UInt8](repeating: 7, count: 60)
        for index in 0..<12 {
            let name = Array("Issuer number \(index):someone-with-a-long-name@example.com".utf8)
            let data = [TLV(0x71, name), TLV(0x73, [0x21, 6] + secret)].encoded
            let reply = try channel.transmit(APDU(ins: 0x01, data: data))
            expect(reply.status, is: .ok)
        }
        channel.continuation = 0xA5
        let list = try channel.transmit(APDU(ins: 0xA1))
        #expect(list.status == .ok && list.data.count > 600)
        expect(pipe.sent.first?.kind, is: .powerOn)
    }

    @Test("a card that needs 5 V gets it after 3 V were tried")
    func voltages() throws {
        let (channel, pipe) = try channel(.t1)
        _ = try channel.select(.oath)
        let first = pipe.sent.prefix(3)
        expect(first.map(\.kind), is: [.powerOn, .powerOff, .powerOn])
        expect(first.map(\.choice), is: [CCID.Voltage.three.rawValue, 0, CCID.Voltage.five.rawValue])
        expect(pipe.sent[3].data, is: [0xFF, 0x11, 0x13, 0xFD])
        #expect(pipe.sent[4].kind == .setParameters && pipe.sent[4].choice == 1 && pipe.sent[4].data.first == 0x13)
    }

    @Test("a slow card asks for more time", arguments: ReaderLevel.allCases)
    func timeExtensions(level: ReaderLevel) throws {
        let (channel, pipe) = try channel(level, "on 00a4: delay 5s")
        #expect(try !channel.select(.oath).isEmpty)
        let waits = pipe.sent.filter { $0.kind == .transfer && $0.choice == 10 }
        #expect(level == .t1 ? waits.count >= 4 : waits.isEmpty)
    }

    @Test(arguments: ReaderLevel.allCases)
    func aCardThatIsNeverDone(level: ReaderLevel) throws {
        let (channel, pipe) = try channel(level, "on 00a4 at 1: keepalives")
        #expect(throws: CardError.self) { try channel.select(.oath) }
        #expect(pipe.sent.count < 20_000)
    }

    @Test(arguments: ReaderLevel.allCases)
    func aKeyThatIsPulledOut(level: ReaderLevel) throws {
        let (channel, _) = try channel(level, "at 2: remove")
        _ = try channel.select(.oath)
        #expect(throws: CardError.link(.removed)) { try channel.transmit(APDU(ins: 0xA1)) }
        #expect(throws: CardError.link(.removed)) { try channel.transmit(APDU(ins: 0xA1)) }
    }

    @Test(
        "a reader that lies, stalls, or goes away in the middle",
        arguments: [
            ("longer 9", false), ("shorter 3", false), ("sequence", false), ("remove after 0", false),
            ("remove after 1", false), ("stall", true),
        ])
    func spoiltMessages(fault: String, isMended: Bool) throws {
        for level in ReaderLevel.allCases {
            let (channel, _) = try channel(level, "at 2: \(fault)")
            _ = try channel.select(.piv)
            // A response that takes more than one transfer.
            let get = APDU(ins: 0xCB, p1: 0x3F, p2: 0xFF, data: [0x5C, 1, 0x7E])
            let isDone = (try? channel.transmit(get)) != nil
            // By T=0 the response takes one transfer more than its status, elsewhere the only one has arrived.
            let isOver = fault == "remove after 1" && level != .t0
            let isExpected = isMended || isOver
            expect(isDone, is: isExpected, "\(level)")
        }
    }

    @Test("after a reset by the reader the card is taken for another one")
    func reset() throws {
        let (channel, _) = try channel(.extended, "at 2: reset")
        _ = try channel.select(.oath)
        #expect(throws: CardError.self) { try channel.transmit(APDU(ins: 0xA1)) }
    }

    @Test func resetsByTheHost() throws {
        let pipe = try VirtualPipe(level: .extended)
        let link = try pipe.link(level: .extended)
        let deadline = Deadline.after(.seconds(60))
        let command = try select.encoded(.short)
        #expect(try !link.begin(deadline: deadline))
        try expect(link.exchange(command, deadline: deadline).suffix(2), is: [0x90, 0])
        try link.reset(.warm, deadline: deadline)
        #expect(try link.begin(deadline: deadline))
        try expect(link.exchange([0, 0xA1, 0, 0], deadline: deadline).suffix(2), is: [0x6D, 0])
        try link.reset(.cold, deadline: deadline)
        #expect(link.identity.atr.first == 0x3B && link.identity.maxCommandLength == CCID.dataLimit)
        link.close()
        #expect(throws: LinkError.removed) { try link.exchange(command, deadline: deadline) }
        expect(pipe.sent.last?.kind, is: .powerOff)
    }

    @Test func parametersAreRead() throws {
        for (level, number): (ReaderLevel, UInt8) in [(.t1, 1), (.t0, 0)] {
            let card = CCIDCard(CCIDSlot(try VirtualPipe(level: level), level.descriptor))
            try card.powerOn(deadline: .after(.seconds(60)))
            try expect(card.parameters(deadline: .after(.seconds(60))).protocolNumber, is: number)
        }
    }
}
