// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

struct Bech32Tests {
    @Test(
        "BIP 173's valid texts are read, and written as they were",
        arguments: [
            "A12UEL5L", "an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1tt5tgs",
            "?1ezyfcl",
        ])
    func valid(text: String) throws {
        let (prefix, bytes) = try Bech32.decode(text)
        #expect(bytes.isEmpty)
        expect(Bech32.encode(prefix, bytes), is: text.lowercased())
    }

    @Test("Bytes of any number are read as they were written", arguments: 0..<12)
    func bytes(count: Int) throws {
        let bytes = (0..<count).map { UInt8($0 * 37 & 0xFF) }
        for text in [Bech32.encode("age", bytes), Bech32.encode("age", bytes).uppercased()] {
            let (prefix, read) = try Bech32.decode(text)
            expect(prefix, is: "age")
            expect(read, is: bytes)
        }
    }

    @Test(
        "Wrong texts are refused",
        arguments: [
            "", "1", "pzry9x0s0muk", "1pzry9x0s0muk", "x1b4n0q5v", "li1dgmt3", "A1G7SGD8", "10a06t8", "1qzzfhee",
            "A12uEL5L",
            "a12uel5m", "\u{20}1nwldj5", "\u{7F}1axkwrx",
        ])
    func invalid(text: String) {
        #expect(throws: WireError.self) { try Bech32.decode(text) }
    }

    @Test("Stray bits and a text that is too long are refused")
    func limits() {
        #expect(throws: WireError.self) { try Bech32.decode("age1" + String(repeating: "q", count: Bech32.limit)) }
        // One group of five bits, with a right checksum, is no byte.
        #expect(throws: WireError.self) { try Bech32.decode("a1lcqjwfmj") }
    }
}
