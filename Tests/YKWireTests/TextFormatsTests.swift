// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

@Suite struct TextFormatsTests {
    @Test func hexadecimal() throws {
        #expect(Hex.encode([0x00, 0xFF, 0x1A]) == "00ff1a" && Hex.encode([]) == "")
        try expect(Hex.decode("00FFfa"), is: [0, 0xFF, 0xFA])
        #expect(#expect(throws: WireError.self) { try Hex.decode("0") }?.code == .truncated)
        #expect(#expect(throws: WireError.self) { try Hex.decode("0g") }?.offset == 1)
        #expect(#expect(throws: WireError.self) { try Hex.decode("é") }?.offset == 0)
    }

    /// RFC 4648 §10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func base64(text: String, encoded: String) throws {
        let bytes = Array(text.utf8)
        let bare = String(encoded.prefix { $0 != "=" })
        #expect(Base64.encode(bytes) == encoded && Base64.encode(bytes, padded: false) == bare)
        expect(Base64.encodeURL(bytes), is: bare)
        #expect(try Base64.decode(encoded) == bytes && Base64.decode(bare) == bytes)
    }

    @Test func base64Alphabets() throws {
        #expect(Base64.encode([0xFB, 0xFF]) == "+/8=" && Base64.encodeURL([0xFB, 0xFF]) == "-_8")
        try expect(Base64.decode("-_8"), is: Base64.decode("+/8="))
    }

    @Test(arguments: ["A", "AB=C", "A===", "AA=", "AAA==", "====", "AB", "AAB", "AA==AA==", "A A=", "Zg==\n"])
    func base64Refused(text: String) {
        #expect(throws: WireError.self) { try Base64.decode(text) }
    }

    @Test func readerChecksBeforeItTakes() throws {
        var reader = ByteReader([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
        #expect(reader.peek == 1 && reader.remaining == 12)
        #expect(try reader.uint16() == 0x0102 && reader.uint32() == 0x0304_0506)
        #expect(try reader.littleEndian(2) == 0x0807 && reader.bigEndian(1) == 9)
        #expect(throws: WireError.self) { try reader.bytes(-1) }
        #expect(throws: WireError.self) { try reader.bytes(.max) }
        #expect(throws: WireError.self) { try reader.reader(4) }
        #expect(throws: WireError.self) { try reader.reader(-1) }
        #expect(#expect(throws: WireError.self) { try reader.finish() }?.code == .trailing)
        var inner = try reader.reader(2, "a part")
        #expect(try inner.byte() == 10 && inner.offset == 10)
        #expect(inner.rest() == [11] && inner.peek == nil)
        #expect(#expect(throws: WireError.self) { try inner.byte("more") }?.offset == 11)
        #expect(reader.rest() == [12] && reader.isAtEnd)
        #expect(throws: Never.self) { try reader.finish() }
    }

    @Test func writerWritesBothOrders() {
        var writer = ByteWriter()
        writer.bigEndian(0x0102_0304, 4)
        writer.littleEndian(0x0102_0304, 4)
        writer.bigEndian(5, 0)
        writer.byte(9)
        expect(writer.bytes, is: [1, 2, 3, 4, 4, 3, 2, 1, 9])
    }

    @Test func liftKeepsTheCause() throws {
        struct Upper: Error, Equatable { let cause: WireError }
        let cause = WireError(.malformed, at: 3, "why")
        #expect(throws: Upper(cause: cause)) {
            try lift(Upper.init(cause:)) { () throws(WireError) in throw cause }
        }
        expect(cause.description, is: "why at byte 3")
    }
}
