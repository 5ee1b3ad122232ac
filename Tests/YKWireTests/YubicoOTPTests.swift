// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

/// Yubico one-time passwords, closed and opened.
@Suite struct YubicoOTPTests {
    private static let text = "cccccccccccbhknhulrjtjknlfrndrvrfrukjhrubnhu"

    @Test func parts() throws {
        let otp = try YubicoOTP(parsing: Self.text)
        #expect(Modhex.encode(otp.publicID) == "cccccccccccb" && otp.ciphertext.count == 16)
        expect(otp.description, is: Self.text)
        try expect(YubicoOTP(parsing: Self.text.uppercased()), is: otp)
        let typed = try YubicoOTP(parsing: "jjjjjjtkexipehbueckdbnbd.hx.ntgxbettpieghgyk")
        expect(typed.description, is: "cccccckvdbgrdjnfdivhnlnhejbelkubndkkrgdujutv")
        try expect(YubicoOTP(parsing: "JJJJJJTKEXIPEHBUECKDBNBD.HX.NTGXBETTPIEGHGYK"), is: typed)
        try expect(YubicoOTP(publicID: otp.publicID, ciphertext: otp.ciphertext), is: otp)
        #expect(try YubicoOTP(parsing: String(Self.text.suffix(32))).publicID.isEmpty)
    }

    @Test func lengthsAndLetters() {
        let c = { String(repeating: "c", count: $0) }
        for text in ["", c(31), c(33), c(65), c(66), c(31) + "a", c(31) + "ä"] {
            #expect(throws: WireError.self) { try YubicoOTP(parsing: text) }
        }
        #expect(throws: WireError.self) { try YubicoOTP(publicID: [UInt8](repeating: 0, count: 17), ciphertext: []) }
        #expect(throws: WireError.self) { try YubicoOTP(publicID: [], ciphertext: [1]) }
    }

    @Test("the block of the example of Yubico's ykparse")
    func block() throws {
        // uid 8792ebfe26cc, counter 0013, timestamp 00c230, session 11, random 9fc8, CRC c823.
        let bytes = try Hex.decode("8792ebfe26cc130030c20011c89f23c8")
        let block = try YubicoOTPBlock(decoding: bytes)
        #expect(Hex.encode(block.privateID) == "8792ebfe26cc" && block.useCounter == 0x13 && block.sessionUse == 0x11)
        #expect(block.timestamp == 0xC230 && block.random == 0x9FC8 && block.encoded == bytes)
        expect(block.counter, is: OTPCounter(use: 19, session: 17))
        for length in [0, 15, 17] {
            #expect(throws: WireError.self) { try YubicoOTPBlock(decoding: [UInt8](repeating: 0, count: length)) }
        }
        for bit in 0..<128 {
            var wrong = bytes
            wrong[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: WireError.self) { try YubicoOTPBlock(decoding: wrong) }
        }
    }

    @Test func capsLockIsNoUse() {
        let block = YubicoOTPBlock(privateID: [1], useCounter: 0x8001, timestamp: 0xFF00_0001, sessionUse: 2, random: 3)
        #expect(block.counter == OTPCounter(use: 1, session: 2) && block.timestamp == 1 && block.privateID.count == 6)
    }

    @Test func countersGrow() {
        let a = OTPCounter(use: 1, session: 255)
        #expect(a < OTPCounter(use: 2, session: 0) && OTPCounter(use: 1, session: 0) < a && !(a < a))
    }
}
