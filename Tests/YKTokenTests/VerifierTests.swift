// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKToken
import YKWire

/// Passwords that are opened with the key, and accepted once.
@Suite struct VerifierTests {
    private final class Memory: CounterStore {
        var known: [[UInt8]: OTPCounter] = [:]
        func advance(_ publicID: [UInt8], to counter: OTPCounter) -> OTPCounter? {
            defer { if known[publicID].map({ $0 < counter }) ?? true { known[publicID] = counter } }
            return known[publicID]
        }
    }

    private static let aesKey: [UInt8] = (1...16).map { UInt8($0) }

    private func otp(_ use: UInt16, _ session: UInt8, id: [UInt8] = [1, 2, 3, 4, 5, 6]) throws -> YubicoOTP {
        let block = YubicoOTPBlock(
            privateID: [9, 8, 7, 6, 5, 4], useCounter: use, timestamp: 77, sessionUse: session, random: 0xABCD)
        return try YubicoOTP(
            publicID: id, ciphertext: BlockCipher.aes.encrypt(block.encoded, key: Secret(Self.aesKey)))
    }

    @Test("the example of Yubico's ykparse")
    func vector() throws {
        let otp = try YubicoOTP(parsing: "dteffujehknhfjbrjnlnldnhcujvddbikngjrtgh")
        let block = try otp.decrypted(with: Secret(try Hex.decode("ecde18dbe76fbd0c33330f1c354871db")))
        expect(Hex.encode(block.encoded), is: "8792ebfe26cc130030c20011c89f23c8")
        expect(Hex.encode(otp.publicID), is: "2d344e83")
    }

    @Test func onlyForward() throws {
        let verifier = OTPVerifier(store: Memory())
        let key = Secret(Self.aesKey)
        try expect(verifier.verify(otp(5, 0), key: key).previous, is: nil)
        try expect(verifier.verify(otp(5, 1), key: key).previous, is: OTPCounter(use: 5, session: 0))
        for (use, session) in [(5, 1), (5, 0), (4, 255), (0x8005, 1)] as [(UInt16, UInt8)] {
            let again = try otp(use, session)
            #expect(
                throws: TokenError.replayed(
                    OTPCounter(use: use & 0x7FFF, session: session), last: OTPCounter(use: 5, session: 1))
            ) { try verifier.verify(again, key: key) }
        }
        let verdict = try verifier.verify(otp(6, 0), key: key)
        #expect(verdict.block.timestamp == 77 && verdict.block.random == 0xABCD)
        try expect(verifier.verify(otp(1, 0, id: []), key: key).previous, is: nil)
    }

    @Test func whatIsNotAccepted() throws {
        let memory = Memory()
        let verifier = OTPVerifier(store: memory)
        let otp = try otp(1, 0)
        #expect(throws: TokenError.wrongKey) { try verifier.verify(otp, key: Secret([UInt8](repeating: 0, count: 16))) }
        #expect(throws: TokenError.otherPublicID([1, 2, 3, 4, 5, 6])) {
            try verifier.verify(otp, key: Secret(Self.aesKey), publicID: [1])
        }
        #expect(throws: TokenError.otherPrivateID) {
            try verifier.verify(otp, key: Secret(Self.aesKey), privateID: SharedSecret(Secret([1, 2, 3, 4, 5, 6])))
        }
        #expect(throws: TokenError.self) { try verifier.verify(otp, key: Secret([1])) }
        #expect(memory.known.isEmpty)
        let right = SharedSecret(Secret([9, 8, 7, 6, 5, 4]))
        #expect(throws: Never.self) {
            try verifier.verify(otp, key: Secret(Self.aesKey), publicID: [1, 2, 3, 4, 5, 6], privateID: right)
        }
    }
}
