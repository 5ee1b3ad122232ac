// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

/// What a contactless reader makes up as an answer to reset.
@Suite struct ContactlessTests {
    private func card(_ hex: String) throws -> ContactlessCard? {
        let bytes = try Hex.decode(hex)
        return try ATR(decoding: bytes + [bytes.dropFirst().reduce(0, ^)]).contactless
    }

    @Test func aYubiKeyIsAProcessorCard() throws {
        let historical = try Hex.decode("8073c021c057597562694b6579")
        try expect(card("3b8d80018073c021c057597562694b6579"), is: .processor(historical))
        expect(ContactlessCard.processor([]).description, is: "contactless card (ISO 14443-4)")
        try expect(ATR(decoding: Hex.decode("3bfd1300008131fe158073c021c057597562694b657940")).contactless, is: nil)
    }

    @Test(arguments: [
        ("030001", "storage card (MIFARE Classic 1K, ISO 14443 A, part 3)"),
        ("030003", "storage card (MIFARE Ultralight, ISO 14443 A, part 3)"),
        ("11003b", "storage card (FeliCa, FeliCa)"), ("997777", "storage card (name 30583, standard 153)"),
    ])
    func storageCards(code: String, name: String) throws {
        let found = try card("3b8f8001804f0ca000000306" + code + "00000000")
        expect(found?.description, is: name)
    }
}
