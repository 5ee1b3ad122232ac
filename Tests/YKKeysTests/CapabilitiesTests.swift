// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKTransport

@testable import YKHardware
@testable import YKKeys

/// What a machine offers before any key is looked for.
@Suite struct CapabilitiesTests {
    @Test("the ways to keys that a machine offers, and why not others")
    func capabilities() async throws {
        let machine = FakeMachine()
        func now() async -> KeyCapabilities { await KeyRing(hardware: machine).capabilities() }
        await expect(
            now().obstacles,
            is: [
                .smartCardService: .service(.serviceNotInstalled), .nfc: .service(.serviceNotInstalled),
            ])
        machine.lay(nil, on: "ACS ACR1252 PICC 00 00")
        let whole = await now()
        #expect(KeyCapabilities.Way.allCases.allSatisfy { whole.offers($0) })
        machine.change { $0.readers = [] }
        await expect(now().obstacles, is: [.nfc: .noContactlessReader])
        machine.lay(try FakeMachine.key(7), on: "Reader")
        await expect(now().obstacle(to: .nfc), is: .noContactlessReader)
        machine.change { $0.hasHIDRaw = false }
        await expect(now().obstacle(to: .hid), is: .noHIDRaw)
        machine.change { ($0.hasHIDRaw, $0.hasUSB) = (true, false) }
        await expect(now().obstacle(to: .usb), is: .noUSB)
        machine.change { ($0.hasUSB, $0.hasUSBLibrary) = (true, false) }
        await expect(now().obstacle(to: .usb), is: .noUSBLibrary)
        machine.change { $0.hasUSBLibrary = true }
        machine.plug(try FakeMachine.key(8), into: "1-2", fido: "/dev/hidraw0", access: .denied)
        await expect(now().obstacle(to: .hid), is: .denied(["/dev/hidraw0"]))
        await expect(now().obstacle(to: .usb), is: .denied(["/dev/bus/usb/001/004"]))
        machine.plug(try FakeMachine.key(9), into: "1-3", fido: "/dev/hidraw1", address: 5)
        let both = await now()
        #expect(both.offers(.hid) && both.offers(.usb))
    }
}
