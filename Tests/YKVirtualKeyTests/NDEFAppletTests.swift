// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTransport
import YKVirtualKey
import YKWire

/// The tag of a virtual key: each reading has another password in it.
struct NDEFAppletTests {
    private static let key = [UInt8](1...16)

    private func bench(_ ndef: [UInt8]? = nil) throws -> Bench {
        let bench = Bench(select: false)
        let record = try OTPSlotRecord(fixed: [1, 2, 3, 4, 5, 6], identity: [9, 9, 9, 9, 9, 9], key: Self.key)
        _ = try bench.send("00a4040007a000000527200100")
        #expect(try bench.send(0x01, p1: 0x01, record.encoded + [UInt8](repeating: 0, count: 6)).status == .ok)
        if let ndef {
            let padded = [UInt8(ndef.count - 1)] + ndef + [UInt8](repeating: 0, count: 55 - ndef.count)
            #expect(try bench.send(0x01, p1: 0x08, padded + [UInt8](repeating: 0, count: 6)).status == .ok)
        }
        return bench
    }

    private func message(_ bench: Bench) throws -> NDEFMessage {
        _ = try bench.send("00a4040007d276000085010100")
        #expect(try bench.send("00a4000c02e104") == "9000")
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
        #expect(third.block.useCounter == second.block.useCounter + 1)
    }

    @Test func aTextInstead() throws {
        let bench = try bench([0x54, 0x02] + Array("enOTP ".utf8))
        guard case .text(let text) = try message(bench).records[0].content() else {
            Issue.record("no text")
            return
        }
        #expect(text.language == "en" && text.text.hasPrefix("OTP cbcdcecfcgch") && text.text.count == 48)
    }

    @Test func theContainerIsTrue() throws {
        let bench = try bench()
        _ = try bench.send("00a4040007d276000085010100")
        #expect(try bench.send("00a4000c02e103") == "9000")
        let bytes = try Hex.decode(try bench.send("00b000000f")).dropLast(2)
        let container = try CapabilityContainer(decoding: Array(bytes))
        #expect(container.file == 0xE104 && container.fileSize == 127 && container.writeAccess == 0xFF)
    }
}
