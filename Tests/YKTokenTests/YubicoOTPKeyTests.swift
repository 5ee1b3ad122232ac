// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKToken
import YKWire

struct YubicoOTPKeyTests {
    private static let key = "000102030405060708090a0b0c0d0e0f"

    private static func keys(_ text: String) -> [YubicoOTPKey] {
        YubicoOTPKey.all(in: SharedSecret(Secret(utf8: text)))
    }

    @Test func readsBareKeys() throws {
        let key = try #require(Self.keys("  \(Self.key)\r\n").first)
        #expect(key.key.value.copyBytes() == Array(0..<16) && key.publicID == nil && key.privateID == nil)
        #expect(Self.keys("").isEmpty && Self.keys("00").isEmpty && Self.keys("no key\n\(Self.key)0").isEmpty)
    }

    @Test(arguments: [
        "1234,vvcccccccccc,010203040506,\(key),,", "vvcccccccccc 010203040506 \(key)",
        "vvcccccccccc;010203040506;\(key);x",
    ])
    func readsLines(_ line: String) throws {
        let key = try #require(Self.keys(line).first)
        #expect(key.publicID == [0xFF, 0, 0, 0, 0, 0] && key.privateID?.value.copyBytes() == [1, 2, 3, 4, 5, 6])
    }

    @Test func matches() throws {
        let lines = "vvcccccccccc,\(Self.key)\nvvcccccccccb,\(Self.key)"
        let otp = try YubicoOTP(parsing: "vvcccccccccb" + String(repeating: "c", count: 32))
        let other = try YubicoOTP(parsing: "vvccccccccck" + String(repeating: "c", count: 32))
        expect(YubicoOTPKey.matching(otp, among: Self.keys(lines))?.publicID, is: otp.publicID)
        #expect(YubicoOTPKey.matching(other, among: Self.keys(lines)) == nil)
        #expect(YubicoOTPKey.matching(other, among: Self.keys(Self.key)) != nil)
        #expect(YubicoOTPKey.matching(other, among: []) == nil)
    }
}
