// SPDX-License-Identifier: Apache-2.0

import Testing
import YKFIDO
import YKManagement
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// Device information over FIDO HID, and what is known of keys by their USB numbers.
struct FIDOInfoTests {
    private func link(_ version: FirmwareVersion, _ faults: String = "") throws -> sending HIDFIDOLink {
        let key = VirtualKey(VirtualKeyState.demonstration(version: version))
        return try HIDFIDOLink(key.reportLink(faults: try FaultPlan(parsing: faults)))
    }

    @Test("both ways tell the same")
    func same() async throws {
        let key = VirtualKey.demonstration()
        let card = try await ManagementService.open(CardChannel(link: key.link())).deviceInfo()
        let service = try await ManagementService.open(fido: try HIDFIDOLink(key.reportLink()))
        try await expect(service.deviceInfo(), is: card)
        await expect(service.version, is: FirmwareVersion(5, 7, 1))
        await expect(service.statistics.exchanges, is: 2)
        await service.rest()
    }

    @Test(
        "keys too old to say are known by their product number",
        arguments: [
            (0x0116, "YubiKey NEO", [.otp, .u2f, .openPGP, .piv, .oath]), (0x0120, "FIDO U2F Security Key", .u2f),
            (0x0410, "YubiKey Plus", [.otp, .u2f]), (0x0113, "YubiKey NEO", .u2f),
        ] as [(UInt16, String, Capability)])
    func old(_ number: UInt16, _ name: String, _ enabled: Capability) async throws {
        let product = USBProduct(vendor: 0x1050, product: number)
        let info = try await ManagementService.open(fido: try link(FirmwareVersion(3, 4, 0)), product: product)
            .deviceInfo()
        #expect(info.isSynthesized && info.usb.enabled == enabled)
        expect(info.productName, is: name)
        #expect(info.serial == nil && (info.nfc != nil) == name.hasSuffix("NEO"))
    }

    @Test("a 4 series key has on what its interfaces show")
    func four() async throws {
        let product = USBProduct(vendor: 0x1050, product: 0x0402)
        let info = try await ManagementService.open(fido: try link(FirmwareVersion(4, 3, 7)), product: product)
            .deviceInfo()
        expect(info.usb, is: .init(supported: [.otp, .u2f, .oath, .piv], enabled: .u2f))
        #expect(!info.isFIPSSeries)
        #expect(try await ManagementService.open(fido: try link(FirmwareVersion(4, 4, 5))).deviceInfo().isFIPSSeries)
    }

    @Test("an Edge has no smart card, a nano no aerial")
    func corrected() throws {
        func info(_ version: String, _ page: [UInt8]) throws -> DeviceInfo {
            try ManagementSession(CardChannel(link: ScriptedLink(version: version, pages: [page]))).deviceInfo()
        }
        try expect(info("4.3.1", ScriptedLink.page(TLV(0x01, [0x07]))).productName, is: "YubiKey Edge")
        let near = [TLV(0x0D, [1]), TLV(0x0E, [1])]
        for (form, version, hasNFC): (UInt8, String, Bool) in [
            (2, "5.4.3", false), (4, "5.4.3", false), (5, "5.4.3", false), (3, "5.1.2", false), (3, "5.2.4", true),
            (1, "5.1.2", true),
        ] {
            let page = ScriptedLink.page(TLV(0x01, [1]), TLV(0x04, [form]), near[0], near[1])
            expect((try info(version, page).nfc != nil), is: hasNFC, "\(form) \(version)")
        }
    }

    @Test("a key that lies, refuses or goes is reported")
    func hostile() async throws {
        for (fault, error): (String, ManagementError) in [
            ("on c2: error 01", .fido(.refused(.invalidCommand), during: ReadConfig.name)),
            ("on c2: remove", .fido(.device(.removed), during: ReadConfig.name)),
        ] {
            let service = try await ManagementService.open(fido: try link(FirmwareVersion(5, 7, 1), fault))
            await #expect(throws: error) { try await service.deviceInfo() }
        }
        let key = VirtualKey.demonstration()
        let service = try await ManagementService.open(
            fido: try HIDFIDOLink(key.reportLink(faults: try FaultPlan(parsing: "on c2: status 0102"))))
        await #expect(throws: ManagementError.self) { try await service.deviceInfo() }
    }

    @Test("a FIPS key of the 4 series says whether it is in its mode")
    func fipsMode() throws {
        #expect(try !FIPSMode.isOn(try link(FirmwareVersion(4, 4, 5))))
        #expect(try FIPSMode.isOn(try link(FirmwareVersion(4, 4, 5), "on 830046: status 9000")))
        #expect(throws: ManagementError.card(.status(.unknownInstruction, during: "VERIFY FIPS MODE"))) {
            try FIPSMode.isOn(try link(FirmwareVersion(4, 3, 7)))
        }
        #expect(throws: ManagementError.fido(.device(.removed), during: "VERIFY FIPS MODE")) {
            try FIPSMode.isOn(try link(FirmwareVersion(4, 4, 5), "on 830046: remove"))
        }
    }

    @Test("readers' names tell the interfaces")
    func readers() {
        expect(USBProduct(reader: "Yubico YubiKey OTP+FIDO+CCID 00 00")?.interfaces, is: [.otp, .fido, .ccid])
        expect(USBProduct(reader: "Yubico Yubikey NEO U2F+CCID 00 00")?.family, is: .neo)
        expect(USBProduct(reader: "Yubico YubiKey CCID 01 00")?.interfaces, is: .ccid)
        #expect(USBProduct(reader: "ACS ACR122U 00 00") == nil && USBProduct(vendor: 0x1050, product: 0) == nil)
        expect(USBProduct(vendor: 1, product: 0x0407), is: nil)
    }

    @Test("keys of other makers are named")
    func makers() throws {
        func identity(_ vendor: UInt16, _ product: UInt16, _ name: String = "") -> DeviceIdentity {
            DeviceIdentity(vendor: vendor, product: product, name: name)
        }
        expect(identity(0x20A0, 0x42B2, "Nitrokey Nitrokey 3").product, is: "Nitrokey 3")
        #expect(identity(0x1209, 0xBEEE).maker == .soloKeys && identity(0x349E, 0x0022, "Token2 X").maker == .token2)
        expect(identity(0x349E, 0x0022, "Token2 PIN+").product, is: "Token2 PIN+")
        expect(identity(0x349E, 0x0022).product, is: "Token2 PIN+")
        #expect(identity(0x349E, 0x9999).product == "Token2 security key" && identity(0x349E, 0x9999).maker == .token2)
        #expect(identity(0x20A0, 0x4108).product == "Nitrokey Pro" && identity(0x20A0, 0x4108).maker == .nitrokey)
        expect(identity(0x1050, 0x0407, "YubiKey OTP+FIDO+CCID").product, is: "YubiKey OTP+FIDO+CCID")
        #expect(identity(1, 2, "CanoKeys CanoKey").maker == .canokey && identity(1, 2).maker == .unknown)
        expect(identity(1, 2).product, is: "Security key")
        let yubico = try DeviceIdentity.read(
            fido: try link(FirmwareVersion(5, 7, 1)), ReportIdentity(path: "x", vendor: 0x1050, product: 0x0407))
        #expect(yubico.serial == "16777217" && yubico.product == "YubiKey 5 NFC")
        let solo = try DeviceIdentity.read(
            fido: try link(FirmwareVersion(5, 7, 1)), ReportIdentity(path: "x", vendor: 0x1209, product: 0xBEEE))
        #expect(solo.product == "SoloKeys Solo 2" && solo.version == FirmwareVersion(5, 7, 1) && solo.info == nil)
    }

    @Test(
        "flaws are told by firmware",
        arguments: [
            ("4.3.1", 0x00, ["ROCA"]), ("4.3.5", 0x00, []), ("4.4.2", 0x80, ["YSA-2019-02"]), ("4.4.5", 0x80, []),
            ("5.2.4", 0x01, ["YSA-2020-05", "EUCLEAK"]), ("5.4.3", 0x01, ["EUCLEAK", "YSA-2025-02"]),
            ("5.7.1", 0x01, ["YSA-2025-02"]), ("5.7.1", 0x06, ["EUCLEAK", "YSA-2025-02"]), ("5.7.4", 0x01, []),
            ("3.4.0", 0x00, ["YSA-2015-1"]), ("4.2.5", 0x00, []), ("4.2.6", 0x00, ["ROCA"]), ("4.3.4", 0x00, ["ROCA"]),
            ("4.4.2", 0x00, []), ("4.4.4", 0x80, ["YSA-2019-02"]), ("5.0.0", 0x01, ["EUCLEAK"]),
            ("5.1.2", 0x01, ["EUCLEAK"]), ("5.2.0", 0x01, ["YSA-2020-05", "EUCLEAK"]),
            ("5.2.6", 0x01, ["YSA-2020-05", "EUCLEAK"]), ("5.2.7", 0x01, ["EUCLEAK"]), ("5.4.0", 0x01, ["EUCLEAK"]),
            ("5.4.1", 0x81, ["EUCLEAK", "YSA-2025-02"]), ("5.6.4", 0x07, ["EUCLEAK", "YSA-2025-02"]),
            ("5.7.0", 0x01, ["YSA-2025-02"]), ("5.7.2", 0x06, ["YSA-2025-02"]), ("5.7.3", 0x81, ["YSA-2025-02"]),
            ("5.8.0", 0x01, []), ("0.0.1", 0x00, []),
        ] as [(String, UInt8, [String])])
    func flaws(_ version: String, _ form: UInt8, _ names: [String]) throws {
        var info = DeviceInfo(
            version: FirmwareVersion(version) ?? FirmwareVersion(0, 0, 0), usb: [.openPGP, .piv, .fido2, .u2f])
        info.formFactor = FormFactor(rawValue: form & 0x0F)
        info.isFIPSSeries = form & 0x80 != 0
        let flaws = KnownFlaw.of(info)
        expect(flaws.map(\.name), is: names)
        #expect(flaws.allSatisfy { !$0.summary.isEmpty && !$0.advice.isEmpty && !$0.reference.isEmpty })
        #expect(
            flaws.allSatisfy { flaw in flaw.title.hasPrefix(flaw.name) && !flaw.title.dropFirst(3).contains(flaw.name) }
        )
    }

    @Test(
        "Security Keys of all generations before 5.7 have EUCLEAK",
        arguments: [("3.3.0", true), ("4.3.1", true), ("5.2.7", true), ("5.7.0", false), ("0.0.1", false)])
    func securityKeys(_ version: String, _ isConcerned: Bool) throws {
        var info = DeviceInfo(version: try #require(FirmwareVersion(version)), usb: .u2f)
        info.isSecurityKeySeries = true
        let flaws = KnownFlaw.of(info)
        expect(flaws.map(\.name), is: (isConcerned ? ["EUCLEAK"] : []))
        #expect(flaws.allSatisfy { !$0.summary.contains("PIV") })
    }

    @Test("a flaw of an application is told only of a key that has it, and in the words of what it has")
    func flawsOfApplications() {
        func names(_ version: FirmwareVersion, _ usb: Capability) -> [String] {
            KnownFlaw.of(DeviceInfo(version: version, usb: usb)).map(\.name)
        }
        #expect(
            names(FirmwareVersion(4, 3, 1), [.otp, .u2f]) == [] && names(FirmwareVersion(3, 4, 0), [.otp, .oath]) == [])
        expect(names(FirmwareVersion(5, 2, 4), [.u2f, .fido2]), is: ["EUCLEAK"])
        expect(names(FirmwareVersion(5, 4, 3), [.otp]), is: ["EUCLEAK"])
        let told = KnownFlaw.of(DeviceInfo(version: FirmwareVersion(5, 1, 2), usb: [.u2f, .fido2])).first
        #expect(told?.summary.contains("PIV") == false && told?.advice.contains("RSA") == false)
        let more = KnownFlaw.of(DeviceInfo(version: FirmwareVersion(5, 1, 2), usb: [.fido2, .piv])).first
        #expect(more?.summary.contains("keys of PIV") == true && more?.title == "EUCLEAK (YSA-2024-03, CVE-2024-45678)")
    }
}
