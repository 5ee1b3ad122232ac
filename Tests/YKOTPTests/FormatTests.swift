// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKOTP
import YKTestSupport
import YKTransport
import YKWire

@Suite("Slot records, NDEF, layouts, identifiers")
struct FormatTests {
    @Test("A slot record is 52 bytes and says again what it was made of")
    func record() throws {
        let record = try OTPSlotRecord(
            fixed: [1, 2, 3], identity: [4, 5, 6, 7, 8, 9], key: Array(10..<26), accessCode: [1, 1, 1, 1, 1, 1],
            extended: [.serialByCommand, .allowsUpdate], ticket: .enter, configuration: .shortTicket)
        expect(record.encoded.count, is: 52)
        try expect(OTPSlotRecord(decoding: record.encoded), is: record)
        // Byte 44 the length, then extended, ticket and configuration flags.
        expect(Array(record.encoded[44..<48]), is: [3, 0x24, 0x20, 0x02])
        #expect(throws: WireError.self) { try OTPSlotRecord(decoding: record.encoded.dropLast() + [0]) }
        #expect(throws: WireError.self) { try OTPSlotRecord(decoding: OTPSlotRecord.empty) }
        #expect(throws: WireError.self) { try OTPSlotRecord(fixed: Array(0..<17)) }
        #expect(throws: WireError.self) { try OTPSlotRecord(key: Array(0..<17)) }
        var long = Array(record.encoded.dropLast(2))
        long[44] = 17
        #expect(throws: WireError.self) { try OTPSlotRecord(decoding: long + CRC16.trailer(long)) }
    }

    @Test(
        "NDEF takes the usual beginning of an address away",
        arguments: [
            ("https://my.yubico.com/yk/#", UInt8(0x04), "my.yubico.com/yk/#"),
            ("http://www.example.com", 0x01, "example.com"),
            ("urn:epc:id:1", 0x13, "epc:id:1"), ("foo://bar", 0x00, "foo://bar"), ("tel:+1", 0x05, "+1"),
        ])
    func address(_ uri: String, _ code: UInt8, _ rest: String) throws {
        let record = OTPNDEFRecord.uri(uri)
        let bytes = try record.encoded()
        expect(bytes.count, is: 56)
        expect(Array(bytes[..<3]), is: [UInt8(rest.utf8.count + 1), 0x55, code])
        expect(Array(bytes[3..<(3 + rest.utf8.count)]), is: Array(rest.utf8))
        try expect(OTPNDEFRecord(decoding: bytes), is: record)
    }

    @Test("NDEF text carries its language; 54 bytes fit")
    func text() throws {
        let record = OTPNDEFRecord.text("hallo", language: "de")
        expect(record.content, is: [2] + Array("dehallo".utf8))
        try expect(OTPNDEFRecord(decoding: try record.encoded()), is: record)
        try expect(OTPNDEFRecord.uri(String(repeating: "x", count: 53)).encoded().count, is: 56)
        #expect(throws: WireError.self) { try OTPNDEFRecord.uri(String(repeating: "x", count: 54)).encoded() }
        for bytes: [UInt8] in [
            [55, 0x55] + [UInt8](repeating: 0, count: 54), [2, 0x55, 0x30, 0x41], [1, 0x41, 0], [2, 0x55, 0, 0xFF], [],
        ] {
            #expect(throws: WireError.self) { try OTPNDEFRecord(decoding: bytes) }
        }
    }

    @Test("Layouts put every character on one key, and no key types two", arguments: KeyboardLayout.allCases)
    func layouts(_ layout: KeyboardLayout) throws {
        let characters = layout.characters
        let codes = try layout.scanCodes(String(characters))
        expect(Set(codes).count, is: characters.count)
        expect(codes.map { layout.character($0) }, is: characters)
        #expect(throws: WireError.self) { try layout.scanCodes("€") }
    }

    @Test("Layouts differ where they do")
    func keys() throws {
        try expect(KeyboardLayout.modhex.scanCodes("cbB"), is: [0x06, 0x05, 0x85])
        try expect(
            KeyboardLayout.us.scanCodes("aZ1!\\~\n\t "), is: [0x04, 0x9D, 0x1E, 0x9E, 0x31, 0xB5, 0x28, 0x2B, 0x2C])
        try expect(KeyboardLayout.uk.scanCodes("\"@£"), is: [0x9F, 0xB4, 0xA0])
        try expect(KeyboardLayout.de.scanCodes("zyß<"), is: [0x1C, 0x1D, 0x2D, 0x64])
        try expect(KeyboardLayout.fr.scanCodes("azqw1&"), is: [0x14, 0x1A, 0x04, 0x1D, 0x9E, 0x1E])
        try expect(KeyboardLayout.it.scanCodes("è°.*"), is: [0x2F, 0xB4, 0x37, 0xB0])
        try expect(KeyboardLayout.bepo.scanCodes("b1ê"), is: [0x14, 0x9E, 0x64])
        try expect(KeyboardLayout.norman.scanCodes("d;:h"), is: [0x08, 0x13, 0x93, 0x33])
        try expect(KeyboardLayout.fr.scanCodes("?<>"), is: [0x90, 0x64, 0xE4])
        try expect(KeyboardLayout.uk.scanCodes("\\|"), is: [0x64, 0xE4])
        try expect(KeyboardLayout.de.scanCodes("^°"), is: [0x35, 0xB5])
    }

    @Test(
        "Token identifiers in digits and modhex",
        arguments: [
            ("ubhe00112233", "e16300112233"), ("00112233", "e16300112233"), ("ubhe", "e16300004711"),
        ])
    func identifiers(_ text: String, _ bytes: String) throws {
        let identifier = try OTPTokenIdentifier(text, serial: 4711)
        expect(Hex.encode(identifier.bytes), is: bytes)
    }

    @Test(
        "Token identifiers that mix wrongly are refused",
        arguments: ["11cc00112233", "1122cccccccc", "cc11cccccccc", "abc", "zzzz00112233"])
    func wrongIdentifiers(_ text: String) {
        #expect(throws: OTPError.self) { try OTPTokenIdentifier(text, serial: nil) }
    }

    @Test("Made-up passwords can be typed, have their length, and differ", arguments: KeyboardLayout.allCases)
    func passwords(_ layout: KeyboardLayout) throws {
        let text = String(decoding: try layout.password(length: 38, random: SystemRandom()).copyBytes(), as: UTF8.self)
        try expect(layout.scanCodes(text).count, is: 38)
        #expect(!text.contains { $0.isWhitespace })
        #expect(throws: OTPError.self) { try _ = layout.password(length: 39, random: SystemRandom()) }
    }

    @Test("A line for YubiCloud")
    func csv() throws {
        let record = YubiCloudRecord(
            serial: 1_234_567, publicID: [0xFF, 0, 0, 0x12, 0xD6, 0x87],
            privateID: SharedSecret(Secret(try Hex.decode("0102030405ff"))),
            key: SharedSecret(Secret([UInt8](repeating: 0xAB, count: 16))),
            accessCode: nil, time: 1_763_718_030)
        let key = String(repeating: "ab", count: 16)
        let line = String(decoding: record.line.copyBytes(), as: UTF8.self)
        expect(line, is: "1234567,vvccccbdthji,0102030405ff,\(key),,2025-11-21T09:40:30,")
    }
}
