// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKHardware
@testable import YKKeys

/// Which key is meant, among those of a machine.
@Suite struct SelectionTests {
    private let machine = FakeMachine()

    private func keys(
        serial: String? = nil, reader: String? = nil, path: String? = nil,
        over transport: KeySelection.Transport = .auto
    ) -> KeyRing {
        KeyRing(
            KeySelection(serial: serial, reader: reader, path: path, transport: transport),
            environment: ServiceEnvironment(timeout: .seconds(600)), hardware: machine)
    }

    private func error(_ body: () throws -> Any) -> KeyError? {
        do { _ = try body() } catch { return error as? KeyError }
        return nil
    }

    // MARK: cards

    @Test func theOnlyReaderWithACard() throws {
        machine.lay(try FakeMachine.key(7), on: "Reader B")
        machine.lay(nil, on: "Reader A")
        #expect(try keys().cardRoute() == .reader("Reader B"))
        #expect(machine.opened.isEmpty, "nobody asks a key that is the only one")
        #expect(try keys(reader: "b").cardRoute() == .reader("Reader B"))
        #expect(error { try keys(reader: "c").cardRoute() } == .link(.unknownReader("c")))
        #expect(error { try keys(reader: "Reader A").cardRoute() } == .link(.noCard(reader: "Reader A")))
        #expect(try keys(over: .pcsc).cardRoute().name == "Reader B")
    }

    @Test func theExactReaderNameWins() throws {
        machine.lay(try FakeMachine.key(7), on: "Reader")
        machine.lay(try FakeMachine.key(8), on: "Reader 2")
        #expect(try keys(reader: "Reader").cardRoute() == .reader("Reader"))
    }

    @Test func severalReadersAreToldApartBySerialNumber() throws {
        machine.lay(try FakeMachine.key(7), on: "A")
        machine.lay(try FakeMachine.key(8), on: "B")
        #expect(try keys(serial: "8").cardRoute() == .reader("B"))
        guard case .several(.reader, let candidates)? = error({ try keys().cardRoute() }) else {
            Issue.record("one of two was chosen")
            return
        }
        #expect(candidates.map(\.location) == ["A", "B"] && candidates.map(\.serial) == ["7", "8"])
        guard case .notFound("9", .reader, let others)? = error({ try keys(serial: "9").cardRoute() }) else {
            Issue.record("a key with another serial number was chosen")
            return
        }
        #expect(others.count == 2)
    }

    @Test func whoHoldsTheKeyThatWasAskedFor() throws {
        machine.lay(try FakeMachine.key(7), on: "A")
        machine.change { $0.held = ["A"] }
        let holder = LinkError.Holder(pid: 7, name: "scdaemon")
        #expect(error { try keys(serial: "7").cardRoute() } == .link(.busy(reader: "A", holders: [holder])))
    }

    @Test func theUSBWhereNoServiceIs() throws {
        #expect(error { try keys().cardRoute() } == .none(.usbReader, .serviceFailed(.serviceNotInstalled)))
        #expect(error { try keys(over: .usb).cardRoute() } == .none(.usbReader, .complete))
        machine.plug(try FakeMachine.key(7), into: "1-2")
        #expect(try keys().cardRoute().name == "1-2")
        #expect(try keys(over: .usb).cardRoute().name == "1-2")
        #expect(try keys(reader: "yubikey", over: .usb).cardRoute().name == "1-2")
        #expect(error { try keys(reader: "solo", over: .usb).cardRoute() } == .link(.unknownReader("solo")))
        machine.plug(try FakeMachine.key(8), into: "1-3", address: 5)
        #expect(try keys(serial: "8").cardRoute().name == "1-3")
        guard case .several(.usbReader, let candidates)? = error({ try keys().cardRoute() }) else {
            Issue.record("one of two was chosen")
            return
        }
        #expect(candidates.map(\.serial) == ["7", "8"])
    }

    @Test func aServiceWithoutReadersLeavesTheUSB() throws {
        machine.change { $0.serviceTrouble = nil }
        #expect(error { try keys().cardRoute() } == .link(.noReader))
        machine.plug(try FakeMachine.key(7), into: "1-2")
        #expect(try keys().cardRoute().name == "1-2")
        // A serial number that nobody has: what the service said counts.
        #expect(error { try keys(serial: "9").cardRoute() } == .link(.noReader))
        machine.change { $0.serviceTrouble = .timedOut("readers") }
        #expect(error { try keys().cardRoute() } == .link(.timedOut("readers")))
    }

    @Test func aCardByItsPath() throws {
        machine.plug(try FakeMachine.key(7), into: "1-2", fido: "/dev/hidraw0")
        machine.plug(try FakeMachine.key(8), into: "1-3", card: false, fido: "/dev/hidraw1", address: 5)
        #expect(try keys(path: "1-2").cardRoute().name == "1-2")
        #expect(try keys(path: "/dev/hidraw0").cardRoute().name == "1-2")
        #expect(error { try keys(path: "/dev/hidraw1").cardRoute() } == .noCard(path: "/dev/hidraw1"))
        #expect(error { try keys(path: "1-9").cardRoute() } == .link(.noDevice(path: "1-9")))
        #expect(error { try keys(over: .hid).channel() } == .cardRequired)
    }

    // MARK: FIDO

    @Test func theOnlyHIDDevice() throws {
        machine.plug(try FakeMachine.key(7), into: "1-2", fido: "/dev/hidraw0")
        #expect(try keys().fidoRoute() == .reports(path: "/dev/hidraw0"))
        #expect(try keys(over: .pcsc).fidoRoute() == .card)
        #expect(try keys(path: "/dev/hidraw5").fidoRoute() == .reports(path: "/dev/hidraw5"))
        #expect(try keys(path: "1-2").fidoRoute() == .reports(path: "/dev/hidraw0"))
        machine.plug(try FakeMachine.key(8), into: "1-3", fido: "/dev/hidraw1", address: 5, access: .denied)
        #expect(try keys(serial: "7").fidoRoute() == .reports(path: "/dev/hidraw0"))
        guard case .several(.fido, let candidates)? = error({ try keys().fidoRoute() }) else {
            Issue.record("one of two was chosen")
            return
        }
        #expect(candidates.map(\.serial) == ["7", nil] && candidates.map(\.isAccessible) == [true, false])
    }

    @Test func noHIDDeviceAtAll() throws {
        #expect(error { try keys().fidoRoute() } == .none(.fido, .serviceFailed(.serviceNotInstalled)))
        #expect(error { try keys(over: .hid).fidoRoute() } == .none(.fido, .complete))
        machine.change { $0.serviceTrouble = nil }
        #expect(error { try keys().fidoRoute() } == .none(.fido, .noReaders))
        machine.lay(nil, on: "A")
        #expect(error { try keys().fidoRoute() } == .none(.fido, .emptyReaders(1)))
        machine.lay(try FakeMachine.key(7), on: "A")
        #expect(try keys().fidoRoute() == .card)
    }

    @Test func aSerialNumberInTheDescriptorNeedsNoQuestion() throws {
        machine.plug(
            try FakeMachine.key(7), into: "1-2", card: false, fido: "/dev/hidraw0", vendor: 0x349E, serial: "T2")
        #expect(try keys(serial: "T2").fidoRoute() == .reports(path: "/dev/hidraw0"))
        #expect(machine.opened.isEmpty)
        guard case .notFound("T3", _, _)? = error({ try keys(serial: "T3", over: .hid).fidoRoute() }) else {
            Issue.record("another key was selected")
            return
        }
    }

    // MARK: OTP and management

    @Test func theKeyboardOfAKey() throws {
        #expect(try keys().otpRoute() == .card)
        #expect(error { try keys(over: .hid).otpRoute() } == .none(.keyboard, .complete))
        machine.plug(try FakeMachine.key(7), into: "1-2", card: false, keyboard: "/dev/hidraw0")
        #expect(try keys().otpRoute() == .reports(path: "/dev/hidraw0"))
        #expect(try keys(path: "1-2").otpRoute() == .reports(path: "/dev/hidraw0"))
        #expect(try keys(over: .usb).otpRoute() == .card)
        #expect(try keys().managementRoute() == .keyboard(path: "/dev/hidraw0"))
        #expect(try keys(serial: "7").managementRoute() == .keyboard(path: "/dev/hidraw0"))
        #expect(try keys(path: "/dev/hidraw0").managementRoute() == .keyboard(path: "/dev/hidraw0"))
        #expect(try keys(path: "/dev/hidraw0").fidoRoute() == .reports(path: "/dev/hidraw0"))
        machine.plug(
            try FakeMachine.key(9), into: "1-4", card: false, fido: "/dev/hidraw2", keyboard: "/dev/hidraw3", address: 6
        )
        #expect(try keys(path: "/dev/hidraw3").fidoRoute() == .reports(path: "/dev/hidraw2"))
        machine.change(FakeMachine.unplug("1-4"))
        machine.plug(try FakeMachine.key(8), into: "1-3", card: false, keyboard: "/dev/hidraw1", address: 5)
        #expect(try keys(serial: "8").otpRoute() == .reports(path: "/dev/hidraw1"))
        #expect(try keys(serial: "9").otpRoute() == .card)
        guard case .several(.keyboard, let candidates)? = error({ try keys().otpRoute() }) else {
            Issue.record("one of two was chosen")
            return
        }
        #expect(candidates.map(\.location) == ["/dev/hidraw0", "/dev/hidraw1"])
    }

    @Test func managementByCardFirst() throws {
        machine.plug(try FakeMachine.key(7), into: "1-2", fido: "/dev/hidraw0", keyboard: "/dev/hidraw1")
        #expect(try keys().managementRoute() == .fido(path: "/dev/hidraw0"))
        #expect(try keys(path: "/dev/hidraw1").managementRoute() == .keyboard(path: "/dev/hidraw1"))
        machine.lay(try FakeMachine.key(7), on: "A")
        #expect(try keys().managementRoute() == .card)
        #expect(try keys(over: .pcsc).managementRoute() == .card)
        #expect(try keys(over: .hid).managementRoute() == .fido(path: "/dev/hidraw0"))
        #expect(keys().reportIdentity(at: "/dev/hidraw0").vendor == 0x1050)
        #expect(keys().reportIdentity(at: "/dev/hidraw7").vendor == 0)
    }

    @Test func noMachineAtAll() throws {
        #expect(error { try keys().managementRoute() } == .link(.serviceNotInstalled))
    }
}
