// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

@Suite struct TLVTests {
    @Test(arguments: [
        (0, "00"), (127, "7f"), (128, "8180"), (255, "81ff"), (256, "820100"), (65535, "82ffff"), (65536, "83010000"),
    ])
    func lengths(count: Int, field: String) throws {
        expect(Hex.encode(TLV.lengthField(count)), is: field)
        let object = TLV(0x53, .init(repeating: 7, count: count))
        try expect(TLV.list(object.encoded), is: [object])
    }

    @Test(arguments: [
        (TLV.Tag(rawValue: 0x53), "53", false), (0x71, "71", true), (0x7F49, "7f49", true), (0x5FC105, "5fc105", false),
        (0x7F818203, "7f818203", true), (0, "00", false),
    ])
    func tags(tag: TLV.Tag, bytes: String, isConstructed: Bool) throws {
        #expect(tag.description == bytes && tag.isConstructed == isConstructed)
    }

    @Test(arguments: [
        ("71", WireError.Code.truncated), ("7105aa", .truncated), ("7181", .truncated), ("718300ffff", .truncated),
        ("7185", .malformed), ("71ff", .malformed), ("1f80808001", .tooLarge), ("5f", .truncated), ("0480", .tooDeep),
        ("718401000000", .truncated), ("3080", .truncated), ("30800001", .malformed), ("308004", .truncated),
    ])
    func refused(hex: String, code: WireError.Code) throws {
        #expect(#expect(throws: WireError.self) { try TLV.list(Hex.decode(hex)) }?.code == code)
    }

    @Test func indefiniteLength() throws {
        try expect(TLV.list(Hex.decode("308004010500000401aa")), is: [TLV(0x30, [4, 1, 5]), TLV(0x04, [0xAA])])
        try expect(
            TLV.list(Hex.decode("30803080040105000004010600000401aa"))[0].value, is: Hex.decode("3003040105040106"))
        let bomb = [UInt8]((0..<1000).flatMap { _ in [0x30, 0x80] as [UInt8] })
        #expect(#expect(throws: WireError.self) { try TLV.list(bomb) }?.code == .tooDeep)
    }

    @Test func readingByTag() throws {
        let list = [TLV(0x71, [1]), TLV(0x74, [2, 3])]
        #expect(list.value(0x74) == [2, 3] && list.value(0x75) == nil)
        try expect(list.required(0x71, "name"), is: [1])
        #expect(#expect(throws: WireError.self) { try list.required(0x75, "response") }?.code == .missing)
        var reader = ByteReader(list.encoded)
        var name = try reader.tlv(0x71, "name")
        #expect(try name.byte() == 1 && name.isAtEnd)
        let error = #expect(throws: WireError.self) { try reader.tlv(0x75, "response") }
        #expect(error?.reason == "expected response (tag 75), got tag 74" && error?.offset == 3)
    }

    @Test func randomBytesNeverTrap() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<5000 {
            let bytes = random.bytes(upTo: 60)
            if let list = try? TLV.list(bytes) { expect((try? TLV.list(list.encoded)), is: list) }
        }
    }
}
