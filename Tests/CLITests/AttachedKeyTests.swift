// SPDX-License-Identifier: Apache-2.0

import Testing
import YKManagement
import YKTestSupport
import YKTransport
import YKWire

@testable import TerminalIO
@testable import Verbs
@testable import YKHardware
@testable import YKKeys

/// Lines of `ykit list`.
@Suite struct AttachedKeyTests {
    private static let contactless: [UInt8] = [0x3B, 0x8D, 0x80, 0x01] + Array("YubiKey 40123".utf8) + [0]
    /// MIFARE Ultralight, as PC/SC readers show it.
    private static let storage: [UInt8] = [
        0x3B, 0x8F, 0x80, 0x01, 0x80, 0x4F, 0x0C, 0xA0, 0, 0, 3, 6, 3, 0, 3, 0, 0, 0, 0, 0x68,
    ]

    private func listed(_ status: ReaderStatus, _ details: KeyDetails? = nil, isAsked: Bool = true) -> AttachedKey {
        AttachedKey(SecurityKey(place: .reader(status.name), reader: status), isAsked: isAsked, details: details)
    }

    private func kind(_ key: AttachedKey) -> JSONValue? {
        guard case .array(let interfaces)? = key.json["interfaces"] else { return nil }
        return interfaces.first?["kind"]
    }

    @Test func readersAndWhatIsOnThem() {
        let empty = listed(ReaderStatus(name: "R", hasCard: false))
        #expect(empty.row == ["R", "no card"] && kind(empty) == "card")
        let details = KeyDetails(
            DeviceIdentity(maker: .yubico, product: "YubiKey 5 NFC", firmware: "5.7.1", serial: "7"))
        let key = listed(ReaderStatus(name: "R", hasCard: true, atr: Self.contactless), details)
        #expect(key.row == ["R", "YubiKey 5 NFC, 5.7.1, serial 7, NFC"] && kind(key) == "nfc")
        let tag = listed(ReaderStatus(name: "R", hasCard: true, atr: Self.storage, isInUse: true))
        expect(tag.row, is: ["R", "storage card (MIFARE Ultralight, ISO 14443 A, part 3), NFC, in use"])
        let card = ReaderStatus(name: "R", hasCard: true, atr: [0x3B, 0])
        #expect(listed(card).row == ["R", "a card that does not identify itself"] && kind(listed(card)) == "card")
        expect(listed(card, isAsked: false).row, is: ["R", "a card"])
        expect(listed(ReaderStatus(name: "R", hasCard: true, isMute: true)).row[1], is: "a card that does not answer")
    }

    @Test func aKeyInAPortThatLiesOnAReaderIsListedOnce() {
        let details = KeyDetails(DeviceIdentity(maker: .yubico, product: "YubiKey 5 NFC", serial: "7"))
        let device = USBDevice(
            usbPath: "1-2", sysPath: "", node: "/dev/bus/usb/001/004", bus: 1, address: 4, vendor: 0x1050,
            product: 0x0407, release: 0x0571, interfaces: [], access: .readable)
        let port = AttachedKey(SecurityKey(place: .usb("1-2"), usb: device), details: details)
        let reader = listed(ReaderStatus(name: "R", hasCard: true, atr: Self.contactless), details)
        let merged = AttachedKey.merged([port, reader, listed(ReaderStatus(name: "S", hasCard: false))])
        #expect(merged.map(\.row.first) == ["1-2", "S"] && merged.first?.contactless.map(\.name) == ["R"])
        expect(merged.first?.row.last?.hasSuffix("NFC 'R'"), is: true)
    }
}
