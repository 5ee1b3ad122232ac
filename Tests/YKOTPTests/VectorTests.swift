// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKOTP
import YKTestSupport
import YKWire

@Suite("Published vectors")
struct VectorTests {
    @Test(
        "Yubico's vectors of modhex",
        arguments: [
            ("69b6481c8baba2b60e8f22179b58cd56", "hknhfjbrjnlnldnhcujvddbikngjrtgh"),
            ("ecde18dbe76fbd0c33330f1c354871db", "urtubjtnuihvntcreeeecvbregfjibtn"),
            ("74657374", "ifhgieif"), ("2d344e83", "dteffuje"),
        ])
    func modhex(_ hex: String, _ text: String) throws {
        let bytes = try Hex.decode(hex)
        expect(Modhex.encode(bytes), is: text)
        try expect(Modhex.decode(text), is: bytes)
        try expect(Modhex.decode(text.uppercased()), is: bytes)
    }

    @Test("Modhex refuses other letters and odd counts", arguments: ["a", "ca", "cbd", "c1", "[c", "é"])
    func notModhex(_ text: String) { #expect(throws: WireError.self) { try Modhex.decode(text) } }

    @Test("Yubico's example of a token decrypts, and its CRC is right")
    func token() throws {
        let key = Secret(try Hex.decode("ecde18dbe76fbd0c33330f1c354871db"))
        let block = try Modhex.decode(String("dteffujehknhfjbrjnlnldnhcujvddbikngjrtgh".suffix(32)))
        let plain = try BlockCipher.aes.decrypt(block, key: key)
        expect(Hex.encode(plain), is: "8792ebfe26cc130030c20011c89f23c8")
        #expect(CRC16.isValid(plain))
    }

    @Test("CRC-16 of ISO 13239 for the check string")
    func crc() {
        expect(~CRC16.remainder(Array("123456789".utf8)), is: 0x906E)
        expect(CRC16.trailer(Array("123456789".utf8)), is: [0x6E, 0x90])
        #expect(CRC16.isValid(Array("123456789".utf8) + [0x6E, 0x90]))
        #expect(!CRC16.isValid(Array("123456789".utf8) + [0x6E, 0x91]))
    }

    @Test(
        "Truncation of RFC 4226 appendix D",
        arguments: [
            ("cc93cf18508d94934c64b65d8ba7667fb7cde4b0", "755224", "84755224"),
            ("75a48a19d4cbe100644e8ac1397eea747a2d33ab", "287082", "94287082"),
            ("0bacb7fa082fef30782211938bc1c5e70416ff44", "359152", "37359152"),
            ("1637409809a679dc698207310c8c7fc07290d9e5", "520489", "45520489"),
        ])
    func truncation(_ mac: String, _ six: String, _ eight: String) throws {
        let mac = try Hex.decode(mac)
        expect(OTPService.truncated(mac, digits: 6), is: six)
        expect(OTPService.truncated(mac, digits: 8), is: eight)
        expect(OTPService.truncated([], digits: 6), is: "000000")
    }
}
