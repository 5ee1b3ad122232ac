// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

@Suite struct ProtocolSelectionTests {
    @Test func requestsAndAnswers() throws {
        let request = ProtocolSelection(protocolNumber: 1, speed: 0x13)
        expect(request.encoded, is: [0xFF, 0x11, 0x13, 0xFD])
        expect(ProtocolSelection(protocolNumber: 0).encoded, is: [0xFF, 0x00, 0xFF])
        try expect(ProtocolSelection(decoding: request.encoded), is: request)
        try expect(ProtocolSelection(decoding: [0xFF, 0x71, 0x13, 1, 2, 0x9E]), is: request)
        for bytes: [UInt8] in [
            [], [0xFE, 1, 0xFF], [0xFF], [0xFF, 1], [0xFF, 0x11, 0xEE], [0xFF, 1, 0xFD], [0xFF, 1, 0xFE, 0],
        ] {
            #expect(throws: WireError.self) { try ProtocolSelection(decoding: bytes) }
        }
        #expect(request.agrees(to: request) && ProtocolSelection(protocolNumber: 1).agrees(to: request))
        #expect(!ProtocolSelection(protocolNumber: 0, speed: 0x13).agrees(to: request))
        #expect(!ProtocolSelection(protocolNumber: 1, speed: 0x95).agrees(to: request))
    }

    @Test func whatAnAnswerToResetSaysOfSpeed() throws {
        let plain = try ATR(decoding: [0x3B, 0x67, 0, 0] + Array("YubiKey".utf8))
        #expect(plain.speed == ATR.firstSpeed && plain.fixed == nil)
        let fixed = try ATR(decoding: [0x3B, 0x90, 0x13, 0x11, 0x01, 0x93])
        #expect(fixed.speed == 0x13 && fixed.fixed.map { [$0.protocolNumber, $0.speed] } == [1, 0x13])
        let implicit = try ATR(decoding: [0x3B, 0x90, 0x13, 0x11, 0x11, 0x83])
        expect(implicit.fixed?.speed, is: ATR.firstSpeed)
        expect(ATR.cycles(of: 0x95).map { [$0.f, $0.d] }, is: [512, 16])
        #expect(ATR.cycles(of: 0x71) == nil && ATR.cycles(of: 0x10) == nil)
    }
}
