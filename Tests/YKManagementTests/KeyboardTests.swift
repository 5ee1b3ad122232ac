// SPDX-License-Identifier: Apache-2.0

import Testing
import YKManagement
import YKTestSupport
import YKTransport
import YKVirtualKey

/// Management over OTP HID.
struct KeyboardTests {
    private func open(_ key: VirtualKey) async throws -> ManagementService {
        let product = USBProduct(vendor: 0x1050, product: key.state.usbProduct)
        return try await .open(otp: HIDOTPLink(key.otpReportLink()), product: product)
    }

    @Test("what the keyboard tells is what the card tells, and what it writes is there")
    func same() async throws {
        let key = VirtualKey.demonstration()
        let card = try await ManagementService.open(CardChannel(link: key.link()))
        var told = try await card.deviceInfo()
        await card.rest()
        told.family = .fourAndFive
        let service = try await open(key)
        try await expect(service.deviceInfo(), is: told)
        var change = DeviceConfiguration()
        change.usbEnabled = [.otp, .fido2]
        change.challengeResponseTimeout = .seconds(40)
        let outcome = try await service.write(change)
        #expect(
            outcome.unconfirmed.isEmpty && outcome.restarts && outcome.info.challengeResponseTimeout == .seconds(40))
        await #expect(throws: ManagementError.noWholeReset) { try await service.resetDevice() }
        #expect(await service.statistics.exchanges > 5)
        await service.rest()
    }

    @Test("a lock code over the keyboard")
    func lock() async throws {
        let service = try await open(VirtualKey.demonstration())
        #expect(try await service.setLockCode(try LockCode([UInt8](1...16))).isLocked)
        var change = DeviceConfiguration()
        change.challengeResponseTimeout = .seconds(40)
        await #expect(throws: ManagementError.wrongLockCode) {
            try await service.write(change, lockCode: try LockCode([UInt8](2...17)))
        }
    }

    @Test(
        "older keys are known by product number and serial",
        arguments: [FirmwareVersion(3, 4, 0), FirmwareVersion(2, 4, 3)])
    func older(_ version: FirmwareVersion) async throws {
        let key = VirtualKey(VirtualKeyState.demonstration(version: version))
        let service = try await open(key)
        let info = try await service.deviceInfo()
        #expect(info.isSynthesized && info.serial == 16_777_217)
        expect(info.productName, is: (version.major == 3 ? "YubiKey NEO" : "YubiKey Standard"))
        guard version.major == 3, let mode = USBMode(.otp) else { return }
        try await service.setMode(mode)
        expect(key.state.usbProduct, is: 0x0110)
    }
}
