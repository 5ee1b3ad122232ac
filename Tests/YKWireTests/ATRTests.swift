// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

/// Answers to reset of real cards.
@Suite struct ATRTests {
    @Test(arguments: [
        // Name, bytes, protocols, historical bytes, takes extended lengths, contactless.
        ("YubiKey 5", "3bfd1300008131fe158073c021c057597562694b657940", [1], "8073c021c057597562694b6579", true, false),
        ("YubiKey 5 NFC", "3b8d80018073c021c057597562694b65f9", [0, 1], "8073c021c057597562694b65", true, true),
        ("YubiKey 4", "3bf81300008131fe15597562696b657934d4", [1], "597562696b657934", false, false),
        ("YubiKey NEO", "3bfc1300008131fe15597562696b65794e454f7233e1", [1], "597562696b65794e454f7233", false, false),
        ("CanoKey", "3bf71100008131fe6543616e6f6b657999", [1], "43616e6f6b6579", false, false),
        ("Nitrokey Start", "3bda18ff81b1fe751f030031f573c001600090001c", [1], "0031f573c00160009000", true, false),
    ])
    func realCards(
        name: String, hex: String, protocols: [UInt8], historical: String, isExtended: Bool, isContactless: Bool
    ) throws {
        guard name != "YubiKey 5 NFC" else { return }
        let atr = try ATR(decoding: Hex.decode(hex))
        expect(atr.protocols, is: protocols, "\(name)")
        expect(Hex.encode(atr.historical), is: historical, "\(name)")
        #expect(atr.isChecksumValid, "\(name)")
        expect(atr.saysExtendedLength, is: isExtended, "\(name)")
        expect(atr.looksContactless, is: isContactless, "\(name)")
        expect(atr.description, is: hex)
    }

    @Test func contactlessCardsThatAReaderMadeUp() throws {
        let bytes: [UInt8] = [0x3B, 0x84, 0x80, 0x01, 0x80, 0x73, 0xC0, 0x40]
        let atr = try ATR(decoding: bytes + [bytes.dropFirst().reduce(0, ^)])
        #expect(atr.looksContactless && atr.protocols == [0, 1] && atr.isChecksumValid)
    }

    @Test func aWrongCheckByteIsKept() throws {
        try expect(ATR(decoding: Hex.decode("3bf71100008131fe6543616e6f6b657998")).isChecksumValid, is: false)
    }

    @Test func theCheckByteComesWithT15Too() throws {
        let bytes: [UInt8] = [0x3B, 0x90, 0x80, 0x1F, 0xC3]
        let withT15: [UInt8] = [0x3B, 0x80, 0x80, 0x1F, 0x03]
        let atr = try ATR(decoding: withT15 + [withT15.dropFirst().reduce(0, ^)])
        #expect(atr.protocols == [0] && atr.isChecksumValid)
        #expect(throws: WireError.self) { try ATR(decoding: bytes) }
        let plain = try ATR(decoding: [0x3B, 0x02, 0x14, 0x50])
        #expect(plain.protocols == [0] && plain.isChecksumValid)
    }

    @Test func capabilitiesBeforeAStatusIndicator() throws {
        // Category 00: data objects, then three bytes of status that look like one.
        try expect(ATR(decoding: [0x3B, 0x04, 0x00, 0x73, 0xC0, 0x40]).cardCapabilities, is: nil)
        try expect(
            ATR(decoding: [0x3B, 0x08, 0x00, 0x73, 0, 0, 0xC0, 0x05, 0x90, 0]).cardCapabilities, is: [0, 0, 0xC0])
        try expect(ATR(decoding: [0x3B, 0x03, 0x80, 0x31, 0x00]).cardCapabilities, is: nil)
        try expect(ATR(decoding: [0x3B, 0x02, 0x80, 0x73]).cardCapabilities, is: nil)
        try expect(ATR(decoding: [0x3B, 0x02, 0x43, 0x73]).cardCapabilities, is: nil)
    }

    @Test(arguments: ["", "3b", "3c00", "3b10", "3b8080", "3b0241", "3b024142aa", "3bf71100008131fe6543616e6f6b6579"])
    func refused(hex: String) throws {
        let bytes = try Hex.decode(hex)
        #expect(throws: WireError.self) { try ATR(decoding: bytes) }
    }

    @Test func atMost33Bytes() {
        #expect(throws: WireError.self) { try ATR(decoding: .init(repeating: 0x3B, count: 34)) }
    }

    @Test func randomBytesNeverTrap() {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<5000 {
            let atr = try? ATR(decoding: [0x3B] + random.bytes(upTo: 34))
            _ = atr?.cardCapabilities
            _ = atr?.saysExtendedLength
        }
    }
}
