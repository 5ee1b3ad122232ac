// SPDX-License-Identifier: Apache-2.0

import Testing
import YKProtocols
import YKTestSupport
import YKWire

@testable import YKBridge

/// Commands in parts, replies in pieces, and what is not shown.
@Suite struct CardRelayTests {
    private func relay(_ selected: RemoteApplication) -> CardRelay {
        var relay = CardRelay(CardFilter(RemoteApplication.allCases))
        relay.select(selected)
        return relay
    }

    private func status(_ step: CardRelay.Step) -> StatusWord? {
        guard case .answer(let bytes) = step else { return nil }
        return try? ResponseAPDU(decoding: bytes).status
    }

    private func sign(_ data: [UInt8], cla: UInt8 = 0, form: APDU.Form = .short) throws -> [UInt8] {
        try APDU(cla: cla, ins: 0x2A, parameters: 0x9E9A, data: data).encoded(form)
    }

    @Test("a command in parts is decided about as a whole")
    func chaining() throws {
        var card = relay(.openpgp)
        let data = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
        expect(status(card.take(try sign(Array(data[..<250]), cla: 0x10))), is: .ok)
        expect(status(card.take(try sign(Array(data[250..<500]), cla: 0x10))), is: .ok)
        let whole = APDU(ins: 0x2A, parameters: 0x9E9A, data: data)
        expect(card.take(try sign(Array(data[500...]))), is: .command(.use(whole, .openPGPSign)))
        expect(card.take(try sign(data, form: .extended)), is: .command(.use(whole, .openPGPSign)))
        // Another command in between, a part of another one, one that never ends.
        expect(status(card.take(try sign([1], cla: 0x10))), is: .ok)
        expect(status(card.take([0x00, 0xCA, 0x00, 0x6E, 0x00])), is: .lastOfChainExpected)
        expect(status(card.take(try sign([1], cla: 0x10))), is: .ok)
        expect(status(card.take([0x10, 0x88, 0x00, 0x00, 0x01, 0x01])), is: .lastOfChainExpected)
        for index in 0..<16 {
            expect(status(card.take(try sign([UInt8](repeating: 1, count: 255), cla: 0x10))), is: .ok, "\(index)")
        }
        expect(status(card.take(try sign([UInt8](repeating: 1, count: 255), cla: 0x10))), is: .wrongLength)
        expect(
            card.take(try sign([7])), is: .command(.use(APDU(ins: 0x2A, parameters: 0x9E9A, data: [7]), .openPGPSign)))
        // The same as the last part.
        for _ in 0..<16 { _ = card.take(try sign([UInt8](repeating: 1, count: 255), cla: 0x10)) }
        expect(status(card.take(try sign([UInt8](repeating: 1, count: 255)))), is: .wrongLength)
        // A part of a forbidden command is not sent, either.
        expect(status(card.take([0x10, 0xDB, 0x3F, 0xFF, 0x01, 0x4D])), is: .ok)
        #expect(
            card.take([0x00, 0xDB, 0x3F, 0xFF, 0x01, 0x00])
                == .command(.refuse(.securityStatusNotSatisfied, "IMPORT KEY")))
    }

    @Test("a long reply comes in pieces, as large as was asked for")
    func pieces() throws {
        let data = (0..<700).map { UInt8(truncatingIfNeeded: $0) }
        for (application, rest) in [(RemoteApplication.piv, UInt8(0xC0)), (.oath, 0xA5)] {
            var card = relay(application)
            _ = card.take([0x00, 0xFD, 0x00, 0x00, 0x00])
            var reply = try ResponseAPDU(decoding: card.reply(ResponseAPDU(.ok, data: data)))
            var collected = reply.data
            var sizes = [reply.status]
            while reply.status.bytesRemaining != nil {
                guard case .answer(let bytes) = card.take([0x00, rest, 0x00, 0x00, 0x00]) else { break }
                reply = try ResponseAPDU(decoding: bytes)
                collected += reply.data
                sizes.append(reply.status)
            }
            expect(collected, is: data)
            expect(sizes, is: [StatusWord(0x6100), StatusWord(0x61BC), .ok])
            expect(status(card.take([0x00, rest, 0x00, 0x00, 0x00])), is: .conditionsNotSatisfied)
        }
        var card = relay(.piv)
        _ = card.take([0x00, 0xFD, 0x00, 0x00, 0x10])
        try expect(ResponseAPDU(decoding: card.reply(ResponseAPDU(.ok, data: data))).data.count, is: 16)
        // Another command forgets the rest.
        _ = card.take([0x00, 0xFD, 0x00, 0x00])
        expect(status(card.take([0x00, 0xC0, 0x00, 0x00, 0x00])), is: .conditionsNotSatisfied)
        _ = card.take([0x00, 0xFD, 0x00, 0x00, 0x00, 0x00, 0x00])
        expect(card.reply(ResponseAPDU(.ok, data: data)), is: data + [0x90, 0x00])
        _ = card.take([0x00, 0xFD, 0x00, 0x00, 0x00, 0x00, 0x00])
        let huge = [UInt8](repeating: 1, count: 20_000)
        expect(card.reply(ResponseAPDU(.ok, data: huge)).count, is: CTAPHID.messageLimit)
    }

    @Test("power ends the session; what is no command is answered")
    func power() throws {
        for byte: UInt8 in [0, 1, 2] {
            var card = relay(.oath)
            expect(card.take([byte]), is: .powered)
            expect(card.selected, is: nil)
            expect(card.take([0x00, 0xA1, 0x00, 0x00]), is: .command(.absent(.conditionsNotSatisfied)))
        }
        var card = relay(.oath)
        for bytes: [UInt8] in [[], [0, 0xA1], [0, 0xA1, 0], [0, 0xA1, 0, 0, 5, 1], [0, 0xA1, 0, 0, 0, 0, 9, 1]] {
            expect(status(card.take(bytes)), is: .wrongLength)
        }
    }

    @Test("the firmware's version is rounded down")
    func versions() {
        func shown(_ verdict: CardVerdict, _ data: [UInt8]) -> [UInt8] {
            verdict.neutral(ResponseAPDU(.ok, data: data)).data
        }
        let version = CardVerdict.read(APDU(ins: PIVProtocol.Instruction.getVersion))
        expect(shown(version, [5, 7, 2]), is: [5, 4, 3])
        #expect(shown(version, [5, 4, 3]) == [5, 4, 3] && shown(version, [4, 3, 7]) == [4, 3, 7])
        expect(shown(version, [9]), is: [9])
        expect(shown(.read(APDU(ins: OpenPGPProtocol.Instruction.getVersion)), [5, 7, 1]), is: [5, 4, 3])
        expect(shown(.read(APDU(ins: PIVProtocol.Instruction.getData)), [5, 7, 1]), is: [5, 7, 1])
        expect(shown(.select(.oath), [0x79, 3, 5, 7, 1, 0x71, 0]), is: [0x79, 3, 5, 4, 3, 0x71, 0])
        expect(shown(.select(.oath), [0x79, 3, 5]), is: [])
        expect(shown(.select(.piv), [0x79, 3, 5, 7, 1]), is: [0x79, 3, 5, 7, 1])
    }

    @Test("neither the tries of a PIN nor the key's identifier for OATH are shown")
    func numbers() throws {
        func shown(_ hex: String, _ reply: String, status: UInt16 = 0x9000) throws -> String {
            let verdict = CardVerdict.read(try APDU(decoding: try Hex.decode(hex)))
            return Hex.encode(
                verdict.neutral(ResponseAPDU(StatusWord(status), data: try Hex.decode(reply))).encoded)
        }
        for status: UInt16 in [0x63C0, 0x63C1, 0x63C8, 0x6983] {
            try expect(shown("00200080", "", status: status), is: "63c3")
        }
        try expect(shown("00200080", ""), is: "9000")
        try expect(shown("00f7008000", "0101ff0501010602ff02"), is: "0101ff05010006020303" + "9000")
        try expect(shown("00f7009a00", "01011102020101"), is: "01011102020101" + "9000")
        try expect(shown("00ca00c400", "017f7f7f020001"), is: "017f7f7f030003" + "9000")
        let status = "c407017f7f7f"
        for (tag, length) in [("", ""), ("6e10", "6e10")] {
            #expect(
                try shown("00ca006e00", tag + "4f0101730b\(status)0100025b00")
                    == length + "4f0101730b\(status)0300035b00" + "9000")
        }
        expect(
            CardVerdict.select(.oath).neutral(
                ResponseAPDU(.ok, data: [0x79, 3, 5, 4, 3, 0x71, 2, 7, 9, 0x74, 1, 5, 0x7B, 1, 2])
            ).data, is: [0x79, 3, 5, 4, 3, 0x71, 2, 0, 0, 0x74, 1, 5, 0x7B, 1, 2])
    }
}
