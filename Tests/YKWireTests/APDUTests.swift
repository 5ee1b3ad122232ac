// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

@Suite struct APDUTests {
    /// Every case of ISO 7816-4 §5.1 in both forms, with what it says.
    @Test(arguments: [
        ("00a40400", APDU(ins: 0xA4, p1: 4, le: .none), APDU.Form.short),
        ("00a1000000", APDU(ins: 0xA1), .short),
        ("00a100000a", APDU(ins: 0xA1, le: .bytes(10)), .short),
        ("00a4040002a000", APDU(ins: 0xA4, p1: 4, data: [0xA0, 0], le: .none), .short),
        ("00a4040002a00000", APDU(ins: 0xA4, p1: 4, data: [0xA0, 0]), .short),
        ("00a4040002a00010", APDU(ins: 0xA4, p1: 4, data: [0xA0, 0], le: .bytes(16)), .short),
        ("00a40400", APDU(ins: 0xA4, p1: 4, le: .none), .extended),
        ("00a10000000000", APDU(ins: 0xA1), .extended),
        ("00a10000000123", APDU(ins: 0xA1, le: .bytes(0x123)), .extended),
        ("00a40400000002a000", APDU(ins: 0xA4, p1: 4, data: [0xA0, 0], le: .none), .extended),
        ("00a40400000002a0000000", APDU(ins: 0xA4, p1: 4, data: [0xA0, 0]), .extended),
        ("00a40400000002a0000123", APDU(ins: 0xA4, p1: 4, data: [0xA0, 0], le: .bytes(0x123)), .extended),
    ])
    func everyCase(hex: String, command: APDU, form: APDU.Form) throws {
        expect(Hex.encode(try command.encoded(form)), is: hex)
        try expect(APDU(decoding: Hex.decode(hex)), is: command)
    }

    @Test(arguments: [
        ("", WireError.Code.truncated), ("00", .truncated), ("00a404", .truncated), ("00a4040002a0", .truncated),
        ("00a4040001a00000", .trailing), ("00a404000000", .truncated), ("00a40400000000", nil),
        ("00a4040000000000", .malformed), ("00a40400000002a0", .truncated), ("00a40400000002a00000", .truncated),
        ("00a40400000001a0000000", .trailing),
    ])
    func lengthsHaveToFit(hex: String, code: WireError.Code?) throws {
        let bytes = try Hex.decode(hex)
        guard let code else {
            try expect(APDU(decoding: bytes).le, is: .max)
            return
        }
        #expect(#expect(throws: WireError.self) { try APDU(decoding: bytes) }?.code == code)
    }

    @Test func whatDoesNotFitIsRefused() {
        #expect(throws: WireError.self) { try APDU(ins: 1, data: .init(repeating: 0, count: 256)).encoded(.short) }
        #expect(throws: WireError.self) { try APDU(ins: 1, data: .init(repeating: 0, count: 65536)).encoded(.extended) }
        #expect(throws: WireError.self) { try APDU(ins: 1, le: .bytes(257)).encoded(.short) }
        #expect(throws: WireError.self) { try APDU(ins: 1, le: .bytes(0)).encoded(.short) }
        #expect(throws: WireError.self) { try APDU(ins: 1, le: .bytes(0)).encoded(.extended) }
        #expect(throws: Never.self) { try APDU(ins: 1, le: .bytes(256)).encoded(.short) }
    }

    @Test func randomCommandsSurviveARoundTrip() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            let form: APDU.Form = Bool.random(using: &random) ? .short : .extended
            let most = form == .short ? 255 : 70
            let length = UInt16.random(in: 1...(form == .short ? 255 : 65535), using: &random)
            let le: APDU.Le = [.none, .max, .bytes(length)].randomElement(using: &random) ?? .none
            let command = APDU(
                cla: .random(in: 0...255, using: &random), ins: .random(in: 0...255, using: &random),
                p1: .random(in: 0...255, using: &random), p2: .random(in: 0...255, using: &random),
                data: random.bytes(upTo: most), le: le)
            let bytes = try command.encoded(form)
            try expect(APDU(decoding: bytes), is: command)
            _ = try? APDU(decoding: Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random))))
            _ = try? APDU(decoding: random.bytes(upTo: 20))
        }
    }

    @Test func selectAndResponse() throws {
        expect(Hex.encode(try APDU.select(Self.oath).encoded(.short)), is: "00a4040007a000000527210100")
        let response = try ResponseAPDU(decoding: [1, 2, 0x90, 0])
        expect(response, is: ResponseAPDU(.ok, data: [1, 2]))
        expect(response.encoded, is: [1, 2, 0x90, 0])
        #expect(throws: WireError.self) { try ResponseAPDU(decoding: [0x90]) }
    }

    @Test(arguments: [
        (0x63C1, "63c1 (1 try left)"), (0x63C0, "63c0 (0 tries left)"), (0x6100, "6100 (256 or more bytes to come)"),
        (0x6C00, "6c00 (wrong Le, should be 256)"), (0x6C10, "6c10 (wrong Le, should be 16)"), (0x9000, "9000 (ok)"),
        (0x1234, "1234"),
    ])
    func statusWords(word: Int, text: String) {
        let status = StatusWord(rawValue: UInt16(word))
        expect(status.description, is: text)
        #expect(status.sw1 == UInt8(word >> 8) && status.sw2 == UInt8(word & 255))
    }

    @Test func applications() {
        let (aid, neighbour) = (Self.oath, AID([0xA0, 0x00, 0x00, 0x05, 0x27, 0x21, 0x07, 0x01]))
        expect(aid.description, is: "a0000005272101")
        #expect(aid.matches([0xA0, 0, 0, 5, 0x27, 0x21, 1, 1]) && aid.matches([0xA0, 0, 0, 5, 0x27]))
        #expect(!aid.matches([0xA0]) && !aid.matches(neighbour.rawValue))
    }

    /// Yubico's OATH.
    private static let oath = AID([0xA0, 0x00, 0x00, 0x05, 0x27, 0x21, 0x01])
}
