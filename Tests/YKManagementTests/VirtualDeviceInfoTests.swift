// SPDX-License-Identifier: Apache-2.0

import Testing
import YKManagement
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// The service on the virtual key.
struct VirtualDeviceInfoTests {
    private func channel(_ version: FirmwareVersion, _ faults: FaultPlan = FaultPlan()) -> sending CardChannel {
        let key = VirtualKey(VirtualKeyState.demonstration(version: version))
        return CardChannel(link: FaultyLink(key.link(), plan: faults))
    }

    @Test("the newest key has two pages")
    func newest() async throws {
        let service = try await ManagementService.open(channel(FirmwareVersion(5, 7, 1)))
        let info = try await service.deviceInfo()
        await expect(service.version, is: FirmwareVersion(5, 7, 1))
        await expect(service.statistics.exchanges, is: 3)
        #expect(info.serial == 16_777_217 && info.version == FirmwareVersion(5, 7, 1))
        let all: Capability = [.otp, .u2f, .fido2, .oath, .piv, .openPGP, .hsmAuth]
        #expect(info.usb == .init(supported: all, enabled: all) && info.nfc == info.usb)
        #expect(info.formFactor == .usbAKeychain && info.partNumber == "YKIT-VIRT" && info.versionText == "5.7.1")
        expect(info.productName, is: "YubiKey 5 NFC")
        await service.rest()
    }

    @Test(
        "older keys say what they can",
        arguments: [
            (FirmwareVersion(5, 2, 4), Capability(rawValue: 0x023B)), (FirmwareVersion(4, 3, 1), .init(rawValue: 0x33)),
            (FirmwareVersion(4, 2, 4), .init(rawValue: 0x3F)),
        ])
    func older(_ version: FirmwareVersion, _ supported: Capability) async throws {
        let info = try await ManagementService.open(channel(version)).deviceInfo()
        #expect(info.version == version && info.usb.supported == supported && info.serial == 16_777_217)
        #expect(!info.isSynthesized)
    }

    @Test("a key from before device information is found out about")
    func oldest() async throws {
        let info = try await ManagementService.open(channel(FirmwareVersion(3, 4, 0))).deviceInfo()
        #expect(info.isSynthesized && info.serial == 16_777_217)
        #expect(info.usb.supported == [.otp, .oath, .u2f, .piv] && info.productName == "YubiKey NEO")
    }

    @Test("a key without the serial number's application has none")
    func noSerial() async throws {
        let plan = try FaultPlan(parsing: "on 00a4040007a0000005272001: status 6a82")
        let info = try await ManagementService.open(channel(FirmwareVersion(3, 4, 0), plan)).deviceInfo()
        #expect(info.serial == nil && info.usb.supported == [.u2f, .oath, .piv])
        let refusing = try FaultPlan(parsing: "on 00011000: status 6985")
        let other = try await ManagementService.open(channel(FirmwareVersion(3, 4, 0), refusing)).deviceInfo()
        #expect(other.serial == nil && other.usb.supported == [.otp, .u2f, .oath, .piv])
    }

    @Test("a key that is taken away is reported, at whatever exchange", arguments: 1...3)
    func removed(_ exchange: Int) async throws {
        await #expect(throws: ManagementError.card(.link(.removed))) {
            let plan = FaultPlan([.init(.at(exchange), .remove(back: nil))])
            _ = try await ManagementService.open(channel(FirmwareVersion(5, 7, 1), plan)).deviceInfo()
        }
        await #expect(throws: ManagementError.card(.link(.removed))) {
            let plan = FaultPlan([.init(.at(exchange + 2), .remove(back: nil))])
            _ = try await ManagementService.open(channel(FirmwareVersion(3, 4, 0), plan)).deviceInfo()
        }
    }

    @Test("an identity names maker, product and serial number")
    func identity() throws {
        let identity = try DeviceIdentity.read(channel(FirmwareVersion(5, 7, 1)))
        #expect(identity.maker == .yubico && identity.product == "YubiKey 5 NFC" && identity.serial == "16777217")
        #expect(identity.firmware == "5.7.1" && identity.version == FirmwareVersion(5, 7, 1) && identity.info != nil)
    }

    @Test("a card of nobody's is unknown, and what a key does not answer is a problem of the rest")
    func unknown() throws {
        let card = CardChannel(link: ScriptedLink([:]))
        try expect(DeviceIdentity.read(card), is: DeviceIdentity(maker: .unknown, product: "Smart card"))
        func identity(_ faults: String) throws -> DeviceIdentity {
            try DeviceIdentity.read(channel(FirmwareVersion(5, 7, 1), FaultPlan(parsing: faults)))
        }
        let refused = ManagementError.card(.status(.aborted, during: ReadConfig.name))
        let silent = try identity("at 2: status 6f00")
        #expect(silent.maker == .yubico && silent.firmware == "5.7.1" && silent.info == nil)
        expect(silent.problem, is: refused)
        let half = try identity("at 3: status 6f00")
        #expect(half.serial == "16777217" && half.info != nil && half.problem == refused)
        let mute = try identity("at 1: status 6f00")
        #expect(mute.maker == .yubico && mute.firmware == nil && mute.problem != nil)
        #expect(throws: ManagementError.card(.link(.removed))) { try identity("at 2: remove") }
        // What is changed by what was read is not changed by halves.
        let session = try ManagementSession(
            channel(FirmwareVersion(5, 7, 1), FaultPlan(parsing: "at 3: status 6f00")))
        #expect(throws: refused) { try session.deviceInfo() }
    }

    @Test("a CanoKey says version, variant and serial number")
    func canokey() throws {
        let card = CardChannel(
            link: ScriptedLink([
                "00a4040005f00000000000": "9000", "0031000020": "332e302e302d302d67323664636536389000",
                "0031010020": "43616e6f4b657920566972742d436172649000", "0032000000": "00c0ffee9000",
            ]))
        let identity = try DeviceIdentity.read(card)
        #expect(identity.maker == .canokey && identity.product == "CanoKey Virt-Card")
        #expect(identity.firmware == "3.0.0-0-g26dce68" && identity.version == FirmwareVersion(3, 0, 0))
        expect(identity.serial, is: "00c0ffee")
        let silent = CardChannel(link: ScriptedLink(["00a4040005f00000000000": "9000", "0031000020": "1b5b9000"]))
        try expect(DeviceIdentity.read(silent), is: DeviceIdentity(maker: .canokey, product: "CanoKey"))
    }
}
