// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// The tag of a virtual key: each reading has another password in it.
struct NDEFAppletTests {
    private static let key = [UInt8](1...16)

    private func bench(_ ndef: [UInt8]? = nil, _ version: FirmwareVersion = FirmwareVersion(5, 7, 1)) throws -> Bench {
        let bench = Bench(version: version, select: false)
        bench.layOnReader()
        let record = try OTPSlotRecord(fixed: [1, 2, 3, 4, 5, 6], identity: [9, 9, 9, 9, 9, 9], key: Self.key)
        _ = try bench.send("00a4040007a000000527200100")
        try expect(bench.send(0x01, p1: 0x01, record.encoded + [UInt8](repeating: 0, count: 6)).status, is: .ok)
        if let ndef {
            let padded = [UInt8(ndef.count - 1)] + ndef + [UInt8](repeating: 0, count: 55 - ndef.count)
            try expect(bench.send(0x01, p1: 0x08, padded + [UInt8](repeating: 0, count: 6)).status, is: .ok)
        }
        return bench
    }

    private func message(_ bench: Bench) throws -> NDEFMessage {
        _ = try bench.send("00a4040007d276000085010100")
        try expect(bench.send("00a4000c02e104"), is: "9000")
        let length = try Hex.decode(try bench.send("00b0000002"))
        let bytes = try Hex.decode(try bench.send("00b00002" + Hex.encode([length[1]])))
        return try NDEFMessage(decoding: Array(bytes.dropLast(2)))
    }

    private func block(_ message: NDEFMessage) throws -> (id: String, block: YubicoOTPBlock) {
        guard case .uri(let uri) = try message.records[0].content() else { throw WireError(.missing, at: 0, "a URI") }
        #expect(uri.description.hasPrefix("https://my.yubico.com/yk/#"))
        let otp = try YubicoOTP(parsing: uri.description.suffix(44))
        let plain = try BlockCipher.aes.decrypt(otp.ciphertext, key: Secret(Self.key))
        return (Modhex.encode(otp.publicID), try YubicoOTPBlock(decoding: plain))
    }

    @Test func thePasswordMoves() throws {
        let bench = try bench()
        let first = try block(message(bench))
        let second = try block(message(bench))
        #expect(first.id == "cbcdcecfcgch" && first.block.privateID == [9, 9, 9, 9, 9, 9])
        #expect(first.block.counter < second.block.counter && first.block.useCounter == second.block.useCounter)
        bench.card.powerOff()
        let third = try block(message(bench))
        expect(third.block.useCounter, is: second.block.useCounter + 1)
    }

    @Test func aTextInstead() throws {
        let bench = try bench([0x54, 0x02] + Array("enOTP ".utf8))
        guard case .text(let text) = try message(bench).records[0].content() else {
            Issue.record("no text")
            return
        }
        #expect(text.language == "en" && text.text.hasPrefix("OTP cbcdcecfcgch") && text.text.count == 48)
    }

    @Test("the NDEF message is read as a tag's")
    func ndef() throws {
        let bench = Bench(select: false)
        bench.layOnReader()
        _ = try bench.select(.ndef)
        try expect(bench.send("00b0000002"), is: "6986")
        try expect(bench.send("00a4000c02e103"), is: "9000")
        try expect(bench.send("00b000000f"), is: "000f20007f00000406e104007f00ff" + "9000")
        try expect(bench.send("00a4000c02e104"), is: "9000")
        let length = try bench.send("00b0000002")
        expect(length, is: "0017" + "9000")
        let message = try Hex.decode(try bench.send("00b0000217"))
        expect(message.prefix(5), is: [0xD1, 0x01, 0x13, 0x55, 0x04])
        expect(String(decoding: message.dropFirst(5).dropLast(2), as: UTF8.self), is: "my.yubico.com/yk/#")
        try expect(bench.send("00b0001801"), is: "23" + "9000")
        try expect(bench.send("00b0001901"), is: "6b00")
        try expect(bench.send("00a4000c020001"), is: "6a82")
        try expect(bench.send("00a4020c02e104"), is: "6b00")
        try expect(bench.send("00d6000001ff"), is: "6d00")
    }

    @Test("a tag is on a contactless reader only, and while OTP is enabled over NFC")
    func availability() throws {
        let bench = try bench()
        try expect(bench.select(.ndef), is: "9000")
        bench.card.state.management.nfcEnabled = bench.card.state.profile.applications & ~1
        try expect(bench.select(.ndef), is: "6a82")
        bench.card = VirtualCard(Bench(select: false).card.state)
        try expect(bench.select(.ndef), is: "6a82")
    }

    @Test("a key that is moved has the answer to reset of its place, and a tag on the reader only")
    func places() throws {
        let key = VirtualKey.demonstration()
        let select = try Hex.decode("00a4040007d276000085010100")
        let usb = key.link()
        try expect(usb.exchange(select, deadline: .after(.seconds(1))), is: [0x6A, 0x82])
        key.layOnReader()
        let nfc = key.link()
        #expect(try ATR(decoding: nfc.identity.atr).contactless != nil)
        try expect(nfc.exchange(select, deadline: .after(.seconds(1))), is: [0x90, 0x00])
        key.plugIn()
        expect(key.link().identity, is: usb.identity)
        try expect(nfc.exchange(select, deadline: .after(.seconds(1))), is: [0x6A, 0x82])
    }

    @Test("a NEO says that its tag may be written, and has an address of its own")
    func neo() throws {
        let bench = try bench(nil, FirmwareVersion(3, 4, 0))
        _ = try bench.select(.ndef)
        try expect(bench.send("00a4000c02e103"), is: "9000")
        try expect(bench.send("00b000000f"), is: "000f20007f007f0406e104007f00009000")
        guard case .uri(let uri) = try message(bench).records[0].content() else {
            Issue.record("no URI")
            return
        }
        #expect(uri.description.hasPrefix("https://my.yubico.com/neo/cbcdcecfcgch"))
    }
}
