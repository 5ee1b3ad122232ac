// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

/// Blocks of T=1 and what the answer to reset says of it.
@Suite struct T1BlockTests {
    @Test(arguments: [
        // Bytes with LRC, from ISO 7816-3 annex A.
        ("0000000000", nil as T1Block.Kind?), ("00000000", .information(number: 0, isMore: false)),
        ("0040010a4b", .information(number: 1, isMore: false)), ("0020010a2b", .information(number: 0, isMore: true)),
        ("00800080", .ready(number: 0, error: 0)), ("00900090", .ready(number: 1, error: 0)),
        ("00810081", .ready(number: 0, error: 1)), ("00c101fe3e", .supervisory(.size, isResponse: false)),
        ("00e301052 7".filter { $0 != " " }, nil), ("00e30105e7", .supervisory(.moreTime, isResponse: true)),
        ("00a000a0", nil), ("0000ff00", nil), ("00c000c0", .supervisory(.resynchronise, isResponse: false)),
    ])
    func kinds(hex: String, kind: T1Block.Kind?) throws {
        let bytes = try Hex.decode(hex)
        let block = try? T1Block(decoding: bytes)
        expect(block?.kind, is: kind)
        if let block { expect(block.encoded(), is: bytes) }
    }

    @Test func blocksWithCRC() throws {
        let block = T1Block(.information(number: 1, isMore: false), [1, 2, 3], node: 0x12)
        let bytes = block.encoded(.crc)
        #expect(try bytes.count == 8 && T1Block(decoding: bytes, check: .crc) == block)
        #expect(throws: WireError.self) { try T1Block(decoding: bytes) }
        var wrong = bytes
        wrong[7] ^= 1
        #expect(throws: WireError.self) { try T1Block(decoding: wrong, check: .crc) }
        expect(T1Block(.ready(number: 0, error: 0), [UInt8](repeating: 0, count: 300)).encoded().count, is: 258)
    }

    @Test func interfaceBytes() throws {
        let five = try ATR(decoding: Hex.decode("3bfd1300008131fe158073c021c057597562694b657940"))
        #expect(five.interfaceGroups.count == 3 && five.interfaceGroups[0].a == 0x13 && five.interfaceGroups[0].c == 0)
        #expect(five.t1?.a == 0xFE && five.t1?.b == 0x15 && five.t1?.c == nil)
        let short = try ATR(decoding: Hex.decode("3b00"))
        #expect(short.t1 == nil && short.interfaceGroups.count == 1)
    }
}
