// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKManagement
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// Changes of what is switched on, over a card and over FIDO HID.
struct WriteTests {
    enum Way: CaseIterable { case card, fido }

    private func key(_ version: FirmwareVersion = FirmwareVersion(5, 7, 1), form: UInt8 = 1) -> VirtualKey {
        var state = VirtualKeyState.demonstration(version: version)
        state.profile.formFactor = form
        return VirtualKey(state)
    }

    private func open(_ key: VirtualKey, _ way: Way = .card) async throws -> ManagementService {
        switch way {
        case .card: return try await .open(CardChannel(link: key.link()))
        case .fido:
            let product = USBProduct(vendor: 0x1050, product: key.state.usbProduct)
            return try await .open(fido: try HIDFIDOLink(key.reportLink()), product: product)
        }
    }

    private func code() throws -> LockCode { try LockCode([UInt8](repeating: 7, count: 16)) }

    @Test("applications, time-outs and flags are written and read back", arguments: Way.allCases)
    func everything(_ way: Way) async throws {
        let key = key()
        let service = try await open(key, way)
        var change = DeviceConfiguration()
        change.usbEnabled = [.otp, .u2f, .fido2, .piv]
        change.nfcEnabled = [.fido2]
        change.autoEjectTimeout = .seconds(300)
        change.challengeResponseTimeout = .seconds(20)
        change.flags = [.touchEject, .remoteWakeUp]
        change.restrictsNFC = true
        let outcome = try await service.write(change)
        #expect(outcome.unconfirmed.isEmpty && !outcome.restarts)
        let info = try await service.deviceInfo()
        expect(info, is: outcome.info)
        #expect(info.usb.enabled == [.otp, .u2f, .fido2, .piv] && info.nfc?.enabled == .fido2)
        #expect(info.autoEjectTimeout == .seconds(300) && info.challengeResponseTimeout == .seconds(20))
        #expect(info.flags == [.touchEject, .remoteWakeUp] && info.isNFCRestricted)
    }

    @Test("an application that is switched off is not there any more, and another interface takes a new start")
    func gone() async throws {
        let key = key()
        let service = try await open(key)
        var change = DeviceConfiguration()
        change.usbEnabled = [.oath, .piv]
        let outcome = try await service.write(change)
        #expect(outcome.restarts && key.state.usbInterfaces == 4 && key.state.usbProduct == 0x0404)
        #expect(key.takeRestart() && !key.takeRestart())
        await service.rest()
        let channel = CardChannel(link: key.link())
        #expect(throws: CardError.appletMissing(.fido)) { try channel.select(.fido) }
        #expect(throws: CardError.appletMissing(.otp)) { try channel.select(.otp) }
        _ = try channel.select(.oath)
        let link = try HIDFIDOLink(key.reportLink())
        #expect(!link.profile.hasCTAP2 && !link.profile.hasU2F)
        #expect(throws: FIDOLinkError.refused(.invalidCommand)) {
            try link.call(.cbor, [4], deadline: .after(.seconds(60)), keepalive: { _ in })
        }
    }

    @Test("what cannot be is said, and nothing is sent")
    func refused() async throws {
        let service = try await open(key())
        var none = DeviceConfiguration()
        none.usbEnabled = []
        await #expect(throws: ManagementError.lastApplication) { try await service.write(none) }
        // The virtual key has OpenPGP from firmware 5.2 on.
        let early = try await open(key(FirmwareVersion(5, 1, 2)))
        var missing = DeviceConfiguration()
        missing.usbEnabled = [.openPGP, .piv]
        await #expect(throws: ManagementError.notThere(.openPGP, over: .usb)) { try await early.write(missing) }
        missing = DeviceConfiguration()
        missing.nfcEnabled = .openPGP
        await #expect(throws: ManagementError.notThere(.openPGP, over: .nfc)) { try await early.write(missing) }
        var near = DeviceConfiguration()
        near.nfcEnabled = .fido2
        let nano = try await open(key(form: 2))
        await #expect(throws: ManagementError.noNFC) { try await nano.write(near) }
        var restriction = DeviceConfiguration()
        restriction.restrictsNFC = true
        let old = try await open(key(FirmwareVersion(5, 4, 3)))
        await #expect(throws: ManagementError.tooOld(has: FirmwareVersion(5, 4, 3), needs: FirmwareVersion(5, 7, 0))) {
            try await old.write(restriction)
        }
        let four = try await open(key(FirmwareVersion(4, 3, 7)))
        await #expect(throws: ManagementError.tooOld(has: FirmwareVersion(4, 3, 7), needs: FirmwareVersion(5, 0, 0))) {
            try await four.write(near)
        }
        await #expect(throws: ManagementError.noWholeReset) { try await service.resetDevice() }
    }

    @Test("a key with something on it that blocks a reset is left alone")
    func blocked() async throws {
        let pages = [ScriptedLink.page(TLV(0x01, [0x3F]), TLV(0x03, [0x3F]), TLV(0x18, [0x10]))]
        let service = try await ManagementService.open(CardChannel(link: ScriptedLink(pages: pages)))
        var change = DeviceConfiguration()
        change.usbEnabled = .oath
        await #expect(throws: ManagementError.resetBlocked(.piv)) { try await service.write(change) }
    }

    @Test("what the key takes and does not do is told")
    func unconfirmed() async throws {
        func card(_ answer: String) -> sending ScriptedLink {
            ScriptedLink(
                pages: [ScriptedLink.page(TLV(0x01, [0x31]), TLV(0x03, [0x31]))], otherwise: answer)
        }
        let service = try await ManagementService.open(CardChannel(link: card("9000")))
        var change = DeviceConfiguration()
        change.usbEnabled = .otp
        change.flags = .touchEject
        change.autoEjectTimeout = .seconds(5)
        change.challengeResponseTimeout = .seconds(5)
        let outcome = try await service.write(change)
        #expect(outcome.unconfirmed.count == 4 && outcome.restarts)
        let refusing = try await ManagementService.open(CardChannel(link: card("6985")))
        await #expect(throws: ManagementError.card(.status(.conditionsNotSatisfied, during: WriteConfig.name))) {
            try await refusing.write(change)
        }
    }

    @Test("a lock code protects, is changed and cleared", arguments: Way.allCases)
    func lock(_ way: Way) async throws {
        let service = try await open(key(), way)
        var change = DeviceConfiguration()
        change.challengeResponseTimeout = .seconds(9)
        await #expect(throws: ManagementError.notLocked) { try await service.write(change, lockCode: try code()) }
        #expect(try await service.setLockCode(try code()).isLocked)
        await #expect(throws: ManagementError.locked) { try await service.write(change) }
        await #expect(throws: ManagementError.wrongLockCode) {
            try await service.write(
                change, lockCode: try LockCode(hex: Secret(utf8: "000102030405060708090a0b0c0d0e0f")))
        }
        try await expect(service.deviceInfo().challengeResponseTimeout, is: .seconds(15))
        try await expect(service.write(change, lockCode: try code()).info.challengeResponseTimeout, is: .seconds(9))
        await #expect(throws: ManagementError.locked) { try await service.setLockCode(.cleared) }
        #expect(!(try await service.setLockCode(.cleared, current: try code())).isLocked)
    }

    @Test("a lock code is 32 digits, not all zero")
    func codes() throws {
        for text in ["", "00", String(repeating: "0", count: 32), String(repeating: "g", count: 32)] {
            #expect(throws: ManagementError.badLockCode) { _ = try LockCode(hex: Secret(utf8: text)) }
        }
        let random = try LockCode.random(SystemRandom())
        let again = try LockCode(hex: Secret(utf8: random.revealed()))
        #expect(again.revealed() == random.revealed() && random.revealed().count == 32)
    }

    @Test(
        "older keys switch interfaces", arguments: [Way.card, .fido],
        [FirmwareVersion(3, 4, 0), FirmwareVersion(4, 3, 7)])
    func mode(_ way: Way, _ version: FirmwareVersion) async throws {
        let key = key(version)
        let service = try await open(key, way)
        try await service.setMode(USBMode([.fido, .ccid])!, timeouts: .init(challengeResponse: .seconds(30)))
        #expect(key.state.management.mode == 5 && key.state.management.challengeResponse == 30)
        expect(key.state.usbProduct, is: (version.major == 3 ? 0x0115 : 0x0406))
        await #expect(throws: ManagementError.touchEjectNeedsCCID) {
            try await service.setMode(USBMode(.fido)!, timeouts: .init(autoEject: .seconds(10)))
        }
        try await service.setMode(USBMode(.ccid)!, timeouts: .init(autoEject: .seconds(258)))
        #expect(key.state.management.autoEject == 258 && key.state.management.flags == 0x80)
        let long = ModeTimeouts(challengeResponse: .seconds(300), autoEject: .seconds(70_000))
        try await service.setMode(USBMode(.ccid)!, timeouts: long)
        #expect(key.state.management.autoEject == 65535 && key.state.management.challengeResponse == 255)
    }

    @Test("a mode of a newer key is what is behind the interfaces")
    func newMode() async throws {
        let key = key()
        let service = try await open(key)
        try await service.setMode(USBMode(.fido)!)
        expect(key.state.usbProduct, is: 0x0402)
        let security = try await open(self.key(form: 0x41))
        await #expect(throws: ManagementError.noSuchMode(USBMode(.ccid)!, has: .fido)) {
            try await security.setMode(USBMode(.ccid)!)
        }
    }

    @Test("modes are read as numbers and names")
    func modes() {
        #expect(USBMode("OTP+FIDO+CCID")?.code == 6 && USBMode("o+f+c")?.code == 6 && USBMode("u2f")?.code == 3)
        #expect(USBMode("5")?.description == "FIDO+CCID" && USBMode("2")?.interfaces == [.otp, .ccid])
        for text in ["", "7", "x", "otp+", "300"] { expect(USBMode(text), is: nil, "\(text)") }
        #expect(USBMode(code: 0x81)?.interfaces == .ccid && USBMode(code: 7) == nil && USBMode([]) == nil)
        expect(USBInterfaces([]).description, is: "none")
    }

    @Test("a key with a fingerprint sensor is reset as a whole")
    func reset() async throws {
        let key = key(form: 6)
        let service = try await open(key)
        try await expect(service.deviceInfo().productName, is: "YubiKey Bio - Multi-protocol Edition")
        try await service.resetDevice()
        let overFIDO = try await open(key, .fido)
        await #expect(throws: ManagementError.notOverThisLink(ResetDevice.name)) { try await overFIDO.resetDevice() }
    }
}
