// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire
import YKX509

struct OIDTests {
    @Test(arguments: [
        ("0.0", "060100"), ("1.2", "06012a"), ("1.39", "06014f"), ("2.0", "060150"), ("2.5.4.3", "0603550403"),
        ("2.999.3", "0603883703"), ("0.9.2342.19200300.100.1.25", "060a0992268993f22c640119"),
        ("1.2.4294967295", "06062a8fffffff7f"),
    ])
    func writesAndReads(_ text: String, _ der: String) throws {
        let oid = try #require(OID(text))
        expect(Hex.encode(oid.encoded), is: der)
        var reader = ByteReader(try Hex.decode(der))
        let read = try reader.derOID("it")
        #expect(read == oid && read.description == text)
    }

    /// Identifiers made from UUIDs have a number of 128 bits (X.667 §7).
    @Test func printsLargeNumbers() throws {
        var most = ByteReader([0x06, 0x14, 0x69, 0x83] + [UInt8](repeating: 0xFF, count: 17) + [0x7F])
        try expect(most.derOID("it").description, is: "2.25.340282366920938463463374607431768211455")
        var first = ByteReader([0x06, 0x09] + [UInt8](repeating: 0xFF, count: 8) + [0x7F])
        try expect(first.derOID("it").description, is: "2.\((UInt64(1) << 63) - 1 - 80)")
    }

    @Test(arguments: [
        "0600", "060180", "06022a80", "06028001", "06032a8001", "05012a", "06022a", "060affffffffffffffffff7f",
        "0641" + String(repeating: "01", count: 65),
    ])
    func refuses(_ der: String) throws {
        let bytes = try Hex.decode(der)
        #expect(throws: WireError.self) {
            var reader = ByteReader(bytes)
            return try reader.derOID("it")
        }
    }

    @Test(arguments: ["", "1", "1.", ".1", "1.40", "3.1", "1.2.4294967296", "1.2.-1", "1.2.+1", "1..2", "a.b"])
    func refusesText(_ text: String) { expect(OID(text), is: nil) }

    @Test func aWrongLiteralEqualsNothing() {
        let wrong: OID = "1.40"
        #expect(wrong.description.isEmpty && wrong.encoded == [0x06, 0x00])
    }
}
