// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

@Suite("Frames and reports of the OTP application")
struct FrameTests {
    @Test("A frame of zeros is two reports, a full one ten")
    func reports() throws {
        let short = try OTPFrame(.serial).reports
        expect(short.map { $0[7] }, is: [0x80, 0x89])
        expect(short[1][1], is: 0x10)
        let full = try OTPFrame(.challengeHMAC1, [UInt8](repeating: 7, count: 64)).reports
        expect(full.map { $0[7] }, is: [UInt8](0x80..<0x8A))
        #expect(throws: WireError.self) { try OTPFrame(.serial, [UInt8](repeating: 0, count: 65)) }
    }

    @Test("What is cut into reports is put together again", arguments: 0..<64)
    func roundTrip(_ seed: Int) throws {
        let payload = (0..<seed).map { UInt8(truncatingIfNeeded: $0 &* seed &* 13) }
        let frame = try OTPFrame(OTPCommand(rawValue: UInt8(seed)), payload)
        var assembler = OTPFrame.Assembler()
        var whole: [UInt8]?
        for report in frame.reports {
            if case .whole(let bytes) = try assembler.add(report) { whole = bytes }
        }
        try expect(OTPFrame(decoding: try #require(whole)), is: frame)
    }

    @Test("A frame with a wrong CRC is ignored")
    func wrongCRC() throws {
        var bytes = try OTPFrame(.serial, [1, 2, 3]).encoded
        bytes[65] ^= 1
        #expect(throws: WireError.self) { try OTPFrame(decoding: bytes) }
        #expect(throws: WireError.self) { try OTPFrame(decoding: Array(bytes.dropLast())) }
        #expect(throws: WireError.self) { try OTPFrame(decoding: bytes + [0]) }
    }

    @Test("The assembler starts anew with 8F and ignores what is not a part")
    func assembler() throws {
        var assembler = OTPFrame.Assembler()
        let parts = try OTPFrame(.swap, [UInt8](repeating: 9, count: 64)).reports
        try expect(assembler.add(parts[0]), is: .part)
        try expect(assembler.add(OTPReport.abandonment), is: .reset)
        #expect(throws: WireError.self) { try assembler.add([1, 2, 3]) }
        try expect(assembler.add([0, 0, 0, 0, 0, 0, 0, 0x8A]), is: .reset)
        #expect(try assembler.add(parts[9]) != .part)
    }

    @Test("A reply comes with its CRC and ends with number 0", arguments: [1, 4, 5, 7, 16, 20, 63, 200])
    func replies(_ count: Int) throws {
        let data = (0..<count).map { UInt8(truncatingIfNeeded: $0 + 1) }
        var assembler = OTPReplyAssembler()
        var isWhole = false
        for report in OTPReport.reports(reply: data) {
            guard case .reply(let number, let part) = try OTPReport(decoding: report) else {
                Issue.record("no part of a reply")
                return
            }
            isWhole = try assembler.add(number, part)
        }
        #expect(isWhole)
        try expect(assembler.checked(count), is: data)
        #expect(throws: WireError.self) { try assembler.checked(count - 1) }
        #expect(throws: WireError.self) { try assembler.checked(250) }
        #expect(throws: WireError.self) { try assembler.checked(-1) }
    }

    @Test("Parts of a reply out of turn are refused, the same again is passed over")
    func order() throws {
        var assembler = OTPReplyAssembler()
        #expect(throws: WireError.self) { try assembler.add(1, [1, 2, 3, 4, 5, 6, 7]) }
        #expect(try !assembler.add(0, [1, 2, 3, 4, 5, 6, 7]))
        #expect(try !assembler.add(1, [8, 2, 3, 4, 5, 6, 7]))
        #expect(try !assembler.add(1, [8, 2, 3, 4, 5, 6, 7]))
        #expect(throws: WireError.self) { try assembler.add(3, [0, 0, 0, 0, 0, 0, 0]) }
        expect(assembler.bytes.count, is: 14)
    }

    @Test("Reports mean what their flags say")
    func meanings() throws {
        try expect(OTPReport(decoding: [0, 5, 4, 3, 7, 3, 0, 0]), is: .status([5, 4, 3, 7, 3, 0]))
        try expect(OTPReport(decoding: [0, 0, 0, 0, 0, 0, 0, 0x20]), is: .waitingForTouch)
        try expect(OTPReport(decoding: [0, 0, 0, 0, 0, 0, 0, 0x85]), is: .busy)
        try expect(OTPReport(decoding: [1, 2, 3, 4, 5, 6, 7, 0x42]), is: .reply(number: 2, [1, 2, 3, 4, 5, 6, 7]))
        #expect(throws: WireError.self) { try OTPReport(decoding: [1, 2]) }
        for report in [OTPReport.waitingForTouch, .busy, .status([5, 4, 3, 1, 0, 0])] {
            try expect(OTPReport(decoding: report.encoded), is: report)
        }
        expect(OTPCommand.serial.description, is: "serial number")
        expect(OTPCommand(rawValue: 0x77).description, is: "slot command 77")
    }
}
