// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKFIDO
import YKTestSupport
import YKTransport
import YKWire

extension ScriptedLink {
    /// A card with the FIDO application that answers as a closure says.
    fileprivate convenience init(
        fido log: Log, extended: Bool = false, _ answer: sending @escaping ([UInt8]) -> [UInt8]
    ) {
        // The historical bytes of an ATR say whether lengths can be extended.
        let atr: [UInt8] = extended ? [0x3B, 0x85, 0x01, 0x80, 0x73, 0xC0, 0x21, 0x40, 0x56] : [0x3B, 0x00]
        self.init(atr: atr, log: log) { command in
            command.starts(with: [0x00, 0xA4]) ? Array("U2F_V2".utf8) + [0x90, 0x00] : answer(command)
        }
    }
}

struct CardFIDOTests {
    private func link(_ card: sending ScriptedLink) throws -> CardFIDOLink {
        try CardFIDOLink(CardChannel(link: card, environment: .instant))
    }

    private func call(
        _ link: CardFIDOLink, _ payload: [UInt8] = [4], within time: Duration = .seconds(60)
    ) throws(FIDOLinkError) -> [UInt8] {
        try link.call(.cbor, payload, deadline: .after(time), keepalive: { _ in })
    }

    @Test func everyStatusWord() throws {
        var accepted: [UInt16] = []
        for word in UInt16.min ... .max where word != 0x9000 {
            let bytes = [UInt8(word >> 8), UInt8(word & 0xFF)]
            if (try? call(try link(ScriptedLink(fido: .init()) { _ in bytes }), within: .milliseconds(1))) != nil {
                accepted.append(word)
            }
        }
        // Some firmware has the CTAP status there, which is not 00.
        expect(accepted, is: Array(0x6401...0x64FF))
        try expect(
            call(try link(ScriptedLink(fido: .init()) { _ in [0x64, 0x31] }), within: .milliseconds(1)), is: [0x31])
    }

    @Test func anEndlessKeepaliveEndsInTime() throws {
        let log = ScriptedLink.Log()
        for data: [UInt8] in [[], [1], [2], [9, 9, 9]] {
            let link = try link(ScriptedLink(fido: log) { _ in data + [0x91, 0x00] })
            let waitsForTouch = data == [2]
            #expect(throws: waitsForTouch ? FIDOLinkError.notTouched : .card(.link(.timedOut("CTAP message")))) {
                try call(link, within: .milliseconds(300))
            }
            expect(log.commands.last?.starts(with: [0x80, 0x11, 0x11]), is: true)
        }
    }

    /// A key that refuses to cancel (before CTAP 2.3 it may) is not used again before it was reset.
    @Test func aKeyThatCannotCancelIsReset() throws {
        for (refusal, isReset) in [([0x6A, 0x86], true), ([2, 0x91, 0x00], true), ([0x2D, 0x90, 0x00], false)]
            as [([UInt8], Bool)]
        {
            let log = ScriptedLink.Log()
            let link = try link(
                ScriptedLink(fido: log) { $0.starts(with: [0x80, 0x11, 0x11]) ? refusal : [2, 0x91, 0x00] })
            #expect(throws: FIDOLinkError.notTouched) { try call(link, within: .milliseconds(50)) }
            expect(log.lines.contains { $0.contains("reset warm") }, is: isReset)
        }
    }

    /// A key that does not know keepalives is asked without them, from then on.
    @Test func asksWithoutKeepalivesWhereTheyAreUnknown() throws {
        for refusal: [UInt8] in [[0x6B, 0x00], [0x6A, 0x86], [0x6A, 0x80], [0x6A, 0x81]] {
            let log = ScriptedLink.Log()
            let link = try link(ScriptedLink(fido: log) { $0[2] == 0x80 ? refusal : [0x00, 0x90, 0x00] })
            try expect(call(link), is: [0])
            try expect(call(link), is: [0])
            expect(log.commands.dropFirst().map { $0[2] }, is: [0x80, 0x00, 0x00])
        }
    }

    /// A card that knows only U2F refuses getInfo, each maker's in another way.
    @Test func aCardOfU2FOnly() async throws {
        for word: UInt16 in [0x6D00, 0x6E00, 0x6700, 0x6A80, 0x6A81, 0x6A86, 0x6985, 0x6986, 0x6B00] {
            let channel = CardChannel(
                link: ScriptedLink(fido: .init()) { command in
                    command[0] == 0x80
                        ? [UInt8(word >> 8), UInt8(word & 0xFF)] : Array("U2F_V2".utf8) + [0x90, 0x00]
                }, environment: .instant)
            let service = try await FIDOService.open(card: channel)
            #expect(await !service.hasCTAP2)
            try await expect(service.u2fVersion(), is: "U2F_V2")
        }
    }

    @Test func fallsBackToShortLengths() throws {
        let log = ScriptedLink.Log()
        let link = try link(
            ScriptedLink(fido: log, extended: true) { command in
                command.count > 4 && command[4] == 0 && command.count > 5 ? [0x67, 0x00] : [0x00, 0x90, 0x00]
            })
        try expect(call(link, [UInt8](repeating: 1, count: 300)), is: [0])
        #expect(log.commands.contains { $0[0] == 0x90 })
    }

    @Test func carriesOnlyWhatACardCan() throws {
        let link = try link(ScriptedLink(fido: .init()) { _ in [0x90, 0x00] })
        for command in [CTAPHID.Command.wink, .ping, .lock, .cancel] {
            #expect(throws: FIDOLinkError.notCarried(command)) {
                try link.call(command, [], deadline: link.environment.deadline(), keepalive: { _ in })
            }
        }
        #expect(throws: FIDOLinkError.self) {
            try link.call(.msg, [0], deadline: link.environment.deadline(), keepalive: { _ in })
        }
        try expect(
            link.call(.msg, [0, 3, 0, 0], deadline: link.environment.deadline(), keepalive: { _ in }), is: [0x90, 0])
        link.rest()
        link.close()
    }
}
