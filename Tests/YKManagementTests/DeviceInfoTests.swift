// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKTransport
import YKWire

@testable import YKManagement

/// Device information as keys say it, and as they should not.
struct DeviceInfoTests {
    private func info(version: String = "5.7.1", _ pages: [UInt8]...) throws -> DeviceInfo {
        let channel = CardChannel(link: ScriptedLink(version: version, pages: pages))
        return try ManagementSession(channel).deviceInfo()
    }

    @Test("every tag is read")
    func everyTag() throws {
        let info = try info(
            ScriptedLink.page(
                TLV(0x01, [0x02, 0x3F]), TLV(0x02, [0x01, 0x02, 0x03, 0x04]), TLV(0x03, [0x02, 0x20]),
                TLV(0x04, [0xC3]),
                TLV(0x05, [5, 4, 3]), TLV(0x06, [0x01, 0x00]), TLV(0x07, [15]), TLV(0x08, [0xC0]), TLV(0x0A, [1]),
                TLV(0x0D, [0x33]), TLV(0x0E, [0x20]), TLV(0x10, [1]), TLV(0x0F, [1])),
            ScriptedLink.page(
                TLV(0x13, Array("5060A".utf8)), TLV(0x14, [0x1F]), TLV(0x15, [0x08]), TLV(0x16, [1]), TLV(0x17, [1]),
                TLV(0x18, [0x02, 0x10]), TLV(0x20, [4, 1, 0]), TLV(0x21, [0, 0, 0]), TLV(0x7E, [1, 2, 3]),
                TLV(0x19, [1, 3, 5, 7, 2, 2, 1, 1, 3, 1, 9])))
        expect(info.serial, is: 0x0102_0304)
        #expect(info.version == FirmwareVersion(5, 7, 2) && info.versionText == "5.7.2.beta.9")
        expect(info.qualifier, is: VersionQualifier(version: FirmwareVersion(5, 7, 2), kind: .beta, iteration: 9))
        #expect(info.formFactor == .usbCKeychain && info.isFIPSSeries && info.isSecurityKeySeries)
        #expect(info.usb.supported.rawValue == 0x023F && info.usb.enabled == [.fido2, .oath])
        expect(info.nfc, is: .init(supported: [.otp, .u2f, .piv, .oath], enabled: .oath))
        #expect(info.isLocked && info.flags == [.remoteWakeUp, .touchEject])
        #expect(info.autoEjectTimeout == .seconds(256) && info.challengeResponseTimeout == .seconds(15))
        expect(info.partNumber, is: "5060A")
        #expect(info.fipsCapable == [.fido2, .piv, .openPGP, .oath, .hsmAuth] && info.fipsApproved == .oath)
        #expect(info.requiresComplexPIN && info.isNFCRestricted && info.resetBlocked == [.fido2, .piv])
        #expect(info.fingerprintVersion == FirmwareVersion(4, 1, 0) && info.stmVersion == nil)
        expect(info.unknown, is: [TLV(0x0F, [1]), TLV(0x7E, [1, 2, 3])])
    }

    @Test("little is enough")
    func minimum() throws {
        let info = try info([0])
        expect(info, is: DeviceInfo(version: FirmwareVersion(5, 7, 1), usb: []))
        try expect(self.info(ScriptedLink.page(TLV(0x02, [0, 0, 0, 0]), TLV(0x13, []))).serial, is: nil)
        try expect(self.info(ScriptedLink.page(TLV(0x13, [0x1B, 0x5B]))).partNumber, is: nil)
    }

    @Test("firmware 4 says less than is true")
    func four() throws {
        let page = ScriptedLink.page(TLV(0x01, [0x08]), TLV(0x03, [0x00]))
        #expect(
            try info(version: "4.2.4", page).usb
                == .init(supported: [.init(rawValue: 0x3F)], enabled: [.init(rawValue: 0x3F)]))
        try expect(info(version: "4.3.1", page).usb, is: .init(supported: .openPGP, enabled: .openPGP))
        try expect(info(version: "5.0.0", page).usb, is: .init(supported: .openPGP, enabled: []))
    }

    @Test(
        "lengths that lie, empty pages, repeated tags and numbers without end are refused",
        arguments: [
            [], [1], [3, 0x02, 0x01], [2, 0x02, 0x01], [2, 0x02, 0x00, 0x00], [4, 0x02, 0x00, 0x02, 0x00],
            [4, 0x05, 0x02, 5, 7], [7, 0x02, 5, 1, 0, 0, 0, 0], [4, 0x04, 0x02, 1, 1], [2, 0x19, 0x00],
            [6, 0x10, 1, 1, 0x10, 1, 1], [2, 0x10, 0x00], [2, 0x02, 0x80], [4, 0x04, 0x84, 0xFF, 0xFF],
            [12, 0x01, 10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ] as [[UInt8]])
    func refused(_ page: [UInt8]) throws {
        let error = #expect(throws: ManagementError.self) { try info(page) }
        guard case .malformed(_, during: ReadConfig.name) = error else {
            Issue.record("unexpected: \(String(describing: error))")
            return
        }
    }

    @Test("a tag that is on two pages is there twice")
    func twice() throws {
        let (first, second) = (ScriptedLink.page(TLV(0x04, [1]), TLV(0x10, [1])), ScriptedLink.page(TLV(0x04, [2])))
        #expect(
            throws: ManagementError.malformed(
                WireError(.duplicate, at: 0, "tag 04 occurs twice"), during: ReadConfig.name)
        ) {
            try info(first, second)
        }
    }

    @Test("pages without end are not read for ever")
    func endless() throws {
        let pages = [[UInt8]](repeating: ScriptedLink.page(TLV(0x10, [9])), count: 256)
        #expect(throws: ManagementError.endlessInfo) {
            try ManagementSession(CardChannel(link: ScriptedLink(pages: pages))).deviceInfo()
        }
    }

    @Test("a page that is announced and not there is the card's word")
    func missingPage() throws {
        #expect(throws: ManagementError.card(.status(.notFound, during: ReadConfig.name))) {
            try info(ScriptedLink.page(TLV(0x10, [1])))
        }
    }

    @Test("no byte of a page can do harm")
    func hostile() throws {
        let page = ScriptedLink.page(
            TLV(0x01, [2, 0x3F]), TLV(0x02, [1, 2, 3, 4]), TLV(0x04, [3]), TLV(0x05, [5, 4, 3]), TLV(0x08, [0]),
            TLV(0x19, [1, 3, 5, 7, 2, 2, 1, 1, 3, 1, 9]), TLV(0x13, [0x41]))
        for index in page.indices {
            for value: UInt8 in [0x00, 0x1F, 0x7F, 0x80, 0x84, 0xFF] {
                var bad = page
                bad[index] = value
                do { _ = try info(bad) } catch { #expect(error is ManagementError) }
            }
            #expect(throws: ManagementError.self) { try info(Array(page.prefix(index))) }
        }
    }

    @Test(
        "the version is found in what SELECT says",
        arguments: [
            ("Virtual mgr - FW version 5.7.1", FirmwareVersion(5, 7, 1)),
            ("FW version 4.2.4\u{90}\0", FirmwareVersion(4, 2, 4)),
            ("1.2 then 3.4.5.6 then 7.8.9.", nil), ("256.0.0", nil), ("", nil),
            ("v5.4.3-beta", FirmwareVersion(5, 4, 3)),
        ])
    func selectText(_ text: String, _ version: FirmwareVersion?) throws {
        expect((try? FirmwareVersion(in: Array(text.utf8))), is: version)
    }

    @Test(
        "keys have the names that they are sold under",
        arguments: [
            ("5.7.1", 0x01, 0x23F, true, "YubiKey 5 NFC"), ("5.4.3", 0x01, 0x23F, false, "YubiKey 5A"),
            ("5.2.4", 0x02, 0x23F, false, "YubiKey 5 Nano"), ("5.2.4", 0x03, 0x23F, true, "YubiKey 5C NFC"),
            ("5.2.4", 0x04, 0x23F, false, "YubiKey 5C Nano"), ("5.2.4", 0x05, 0x23F, false, "YubiKey 5Ci"),
            ("5.4.3", 0x81, 0x23F, true, "YubiKey 5 NFC FIPS"),
            ("5.6.3", 0x06, 0x202, false, "YubiKey Bio - FIDO Edition"),
            ("5.6.3", 0x07, 0x212, false, "YubiKey C Bio - Multi-protocol Edition"),
            ("5.7.1", 0x43, 0x202, true, "Security Key C NFC"), ("5.7.1", 0x41, 0x202, true, "Security Key NFC"),
            ("5.0.2", 0x01, 0x23F, false, "YubiKey Preview"), ("4.3.7", 0x00, 0x3F, false, "YubiKey 4"),
            ("4.4.5", 0x00, 0x3F, false, "YubiKey FIPS (4 Series)"), ("4.3.7", 0x00, 0x03, false, "YubiKey Edge"),
        ])
    func names(_ version: String, _ form: UInt8, _ usb: UInt16, _ hasNFC: Bool, _ name: String) throws {
        let bits = [UInt8(usb >> 8), UInt8(usb & 0xFF)]
        let page = ScriptedLink.page(TLV(0x01, bits), TLV(0x04, [form]), TLV(hasNFC ? 0x0D : 0x7D, bits))
        try expect(info(version: version, page).productName, is: name)
    }

    @Test("open sets have words for what is not known")
    func words() {
        expect(FormFactor(rawValue: 9).description, is: "form factor 9")
        expect(VersionQualifier.Kind(rawValue: 7).description, is: "kind 7")
        expect(Capability(rawValue: 0x8221).names, is: ["Yubico OTP", "FIDO2", "OATH"])
    }
}
