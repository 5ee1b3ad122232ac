// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKTransport
import YKWire

struct VersionTests {
    @Test func readsBytes() throws {
        try expect(FirmwareVersion(bytes: [5, 7, 1]), is: FirmwareVersion(5, 7, 1))
        #expect(throws: WireError.self) { try FirmwareVersion(bytes: [5, 7]) }
        #expect(throws: WireError.self) { try FirmwareVersion(bytes: [5, 7, 1, 0]) }
    }

    @Test func comparesFromTheLeft() {
        #expect(FirmwareVersion(4, 3, 7) < FirmwareVersion(5, 2, 0))
        #expect(FirmwareVersion(5, 2, 7) < FirmwareVersion(5, 3, 1))
        #expect(!(FirmwareVersion(5, 3, 1) < FirmwareVersion(5, 3, 1)))
    }

    @Test(arguments: ["", "5", "5.7", "5.7.1.2", "5.7.256", "5..1", "+5.7.1", "5.7.x", " 5.7.1"])
    func refusesOtherTexts(_ text: String) { expect(FirmwareVersion(text), is: nil) }

    @Test func printsWhatItReads() {
        expect(FirmwareVersion("5.7.1")?.description, is: "5.7.1")
        expect(FirmwareVersion("5.7.1")?.bytes, is: [5, 7, 1])
    }
}
