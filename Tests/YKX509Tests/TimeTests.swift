// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire
import YKX509

struct TimeTests {
    private func read(_ tag: TLV.Tag, _ text: String) throws -> Int64 {
        try X509Certificate(der: Sample(validity: [TLV(tag, Array(text.utf8)), Sample().validity[1]]).der).notBefore
    }

    @Test(arguments: [
        (TLV.Tag(rawValue: 0x17), "700101000000Z", Int64(0)), (0x17, "491231235959Z", 2_524_607_999),
        (0x17, "500101000000Z", -631_152_000), (0x18, "20500101000000Z", 2_524_608_000),
        (0x18, "99991231235959Z", 253_402_300_799), (0x17, "000229120000Z", 951_825_600),
    ])
    func writesAndReads(_ tag: TLV.Tag, _ text: String, _ seconds: Int64) throws {
        try expect(read(tag, text), is: seconds)
        expect(DERTime.object(seconds), is: TLV(tag, Array(text.utf8)))
    }

    @Test("Times as older programs write them")
    func readsOtherForms() throws {
        try expect(read(0x17, "7001010000Z"), is: 0)
        try expect(read(0x18, "19700101000000.5Z"), is: 0)
        try expect(read(0x18, "19700101000000+0000"), is: 0)
        try expect(read(0x17, "700101013000+0130"), is: 0)
        try expect(read(0x17, "6912312330-0030"), is: 0)
    }

    @Test func readsALeapSecond() throws {
        try expect(read(0x18, "20161231235960Z"), is: 1_483_228_800)
        try expect(read(0x18, "19700101000000Z"), is: 0)
    }

    @Test(arguments: [
        (TLV.Tag(rawValue: 0x17), "700101000000"), (0x17, "19700101000000Z"), (0x17, "700101000000.5Z"),
        (0x18, "700101000000Z"), (0x18, "19700101000000.Z"), (0x18, "19700101000000+2400"), (0x17, "701301000000Z"),
        (0x17, "700001000000Z"), (0x17, "700132000000Z"), (0x17, "700230000000Z"), (0x17, "700101240000Z"),
        (0x17, "700101006000Z"), (0x17, "700101000061Z"), (0x17, "7001010000x0Z"), (0x17, ""), (0x17, "Z"),
    ])
    func refuses(_ tag: TLV.Tag, _ text: String) {
        #expect(throws: WireError.self) { try read(tag, text) }
    }

    @Test func writesTheYears1950To9999() {
        expect(DERTime.object(-631_152_001), is: nil)
        expect(DERTime.object(253_402_300_800), is: nil)
        #expect(DERTime.object(.max) == nil && DERTime.object(.min) == nil)
    }
}
