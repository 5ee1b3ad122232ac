// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKTransport
import YKWire

/// Commands of one's own, sent from anywhere.
@Suite struct CardServiceTests {
    private let oath = AID(rawValue: [0xA0, 0, 0, 5, 0x27, 0x21, 1])

    @Test("an application is selected and commands are sent")
    func commands() async throws {
        let log = ScriptedLink.Log()
        let link = ScriptedLink(["019000", "6103", "0203049000", "6d00", "9000"], log: log)
        let service = try CardService(CardChannel(link: link))
        await expect(service.identity.reader, is: "scripted")
        try await expect(service.select(oath), is: [1])
        try await expect(service.send(APDU(ins: 0xA1)).data, is: [2, 3, 4])
        try await expect(service.exchange(raw: [0, 0xFF, 0, 0]), is: [0x6D, 0])
        await service.rest()
        expect(log.lines.last, is: "end")
        try await expect(service.send(APDU(ins: 1)).status, is: .ok)
        await #expect(throws: CardError.link(.removed)) { try await service.send(APDU(ins: 1)) }
    }

    @Test("a block runs behind what was asked for, and nothing comes in between")
    func blocks() async throws {
        let log = ScriptedLink.Log()
        let link = ScriptedLink(atr: ScriptedLink.silentATR, log: log) { (_) throws(LinkError) in [0x90, 0] }
        let service = try CardService(CardChannel(link: link))
        await withTaskGroup(of: Void.self) { group in
            for number in UInt8(0)..<20 {
                group.addTask {
                    await service.perform { channel in
                        for part in UInt8(0)..<3 { _ = try? channel.exchange(raw: [0, number, part, 0]) }
                    }
                }
            }
        }
        let sent = log.lines.filter { $0 != "begin" }
        expect(sent.count, is: 60)
        for first in stride(from: 0, to: 60, by: 3) {
            let numbers = Set(sent[first..<(first + 3)].map { $0.prefix(4) })
            expect(numbers.count, is: 1, "three exchanges of one block")
        }
        let failure = await #expect(throws: WireError.self) {
            try await service.perform { _ throws(WireError) in throw WireError(.missing, at: 0, "mine") }
        }
        expect(failure?.code, is: .missing)
    }
}
