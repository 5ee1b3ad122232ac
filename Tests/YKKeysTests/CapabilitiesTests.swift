// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTransport

@testable import YKHardware
@testable import YKKeys

/// What a machine offers before any key is looked for.
@Suite struct CapabilitiesTests {
    @Test("the ways to keys that a machine offers, and why not others")
    func capabilities() async throws {
        let machine = FakeMachine()
        func now() async -> KeyCapabilities { await KeyRing(hardware: machine).capabilities() }
        #expect(
            await now().obstacles == [
                .smartCardService: .service(.serviceNotInstalled), .nfc: .service(.serviceNotInstalled),
            ])
        machine.lay(nil, on: "ACS ACR1252 PICC 00 00")
        let whole = await now()
        #expect(KeyCapabilities.Way.allCases.allSatisfy { whole.offers($0) })
        machine.change { $0.readers = [] }
        #expect(await now().obstacles == [.nfc: .noContactlessReader])
        machine.lay(try FakeMachine.key(7), on: "Reader")
        #expect(await now().obstacle(to: .nfc) == .noContactlessReader)
        machine.change { $0.hasHIDRaw = false }
        #expect(await now().obstacle(to: .hid) == .noHIDRaw)
        machine.change { ($0.hasHIDRaw, $0.hasUSB) = (true, false) }
        #expect(await now().obstacle(to: .usb) == .noUSB)
        machine.change { ($0.hasUSB, $0.hasUSBLibrary) = (true, false) }
        #expect(await now().obstacle(to: .usb) == .noUSBLibrary)
        machine.change { $0.hasUSBLibrary = true }
        machine.plug(try FakeMachine.key(8), into: "1-2", fido: "/dev/hidraw0", access: .denied)
        #expect(await now().obstacle(to: .hid) == .denied(["/dev/hidraw0"]))
        #expect(await now().obstacle(to: .usb) == .denied(["/dev/bus/usb/001/004"]))
        machine.plug(try FakeMachine.key(9), into: "1-3", fido: "/dev/hidraw1", address: 5)
        let both = await now()
        #expect(both.offers(.hid) && both.offers(.usb))
    }
}
