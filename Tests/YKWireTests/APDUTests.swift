// SPDX-License-Identifier: Apache-2.0

import Testing
import YKWire

@Suite struct APDUTests {
    @Test(arguments: [
        ("00a40400", "00a40400"), ("00a1000000", "00a1000000"),
        ("00a4040007a000000527210100", "00a4040007a000000527210100"),
        ("00a4040007a0000005272101", "00a4040007a0000005272101"),
    ])
    func shortFormsRoundTrip(bytes: String, expected: String) throws {
        let apdu = try APDU(decoding: Hex.decode(bytes))
        #expect(Hex.encode(try apdu.encoded(.short)) == expected)
    }

    @Test(arguments: ["00a40400000007a00000052721010000", "00a10000000000", "00a4040000000102030405060708"])
    func extendedForms(bytes: String) throws {
        _ = try? APDU(decoding: Hex.decode(bytes))
    }
}
