// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
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
        try expect(keys().cardRoute(), is: .reader("Reader B"))
        #expect(machine.opened.isEmpty, "nobody asks a key that is the only one")
        try expect(keys(reader: "b").cardRoute(), is: .reader("Reader B"))
        expect(error { try keys(reader: "c").cardRoute() }, is: .link(.unknownReader("c")))
        expect(error { try keys(reader: "Reader A").cardRoute() }, is: .link(.noCard(reader: "Reader A")))
        try expect(keys(over: .pcsc).cardRoute().name, is: "Reader B")
    }

    @Test func theExactReaderNameWins() throws {
        machine.lay(try FakeMachine.key(7), on: "Reader")
        machine.lay(try FakeMachine.key(8), on: "Reader 2")
        try expect(keys(reader: "Reader").cardRoute(), is: .reader("Reader"))
    }

    @Test func severalReadersAreToldApartBySerialNumber() throws {
        machine.lay(try FakeMachine.key(7), on: "A")
        machine.lay(try FakeMachine.key(8), on: "B")
        try expect(keys(serial: "8").cardRoute(), is: .reader("B"))
        guard case .several(.reader, let candidates)? = error({ try keys().cardRoute() }) else {
            Issue.record("one of two was chosen")
            return
        }
        #expect(candidates.map(\.location) == ["A", "B"] && candidates.map(\.serial) == ["7", "8"])
        guard case .notFound("9", .reader, let others)? = error({ try keys(serial: "9").cardRoute() }) else {
            Issue.record("a key with another serial number was chosen")
            return
        }
        expect(others.count, is: 2)
    }

    @Test func whoHoldsTheKeyThatWasAskedFor() throws {
        machine.lay(try FakeMachine.key(7), on: "A")
        machine.change { $0.held = ["A"] }
        let holder = LinkError.Holder(pid: 7, name: "scdaemon")
        expect(error { try keys(serial: "7").cardRoute() }, is: .link(.busy(reader: "A", holders: [holder])))
    }

    @Test func theUSBWhereNoServiceIs() throws {
        expect(error { try keys().cardRoute() }, is: .none(.usbReader, .serviceFailed(.serviceNotInstalled)))
        expect(error { try keys(over: .usb).cardRoute() }, is: .none(.usbReader, .complete))
        machine.plug(try FakeMachine.key(7), into: "1-2")
        try expect(keys().cardRoute().name, is: "1-2")
        try expect(keys(over: .usb).cardRoute().name, is: "1-2")
        try expect(keys(reader: "yubikey", over: .usb).cardRoute().name, is: "1-2")
        expect(error { try keys(reader: "solo", over: .usb).cardRoute() }, is: .link(.unknownReader("solo")))
        machine.plug(try FakeMachine.key(8), into: "1-3", address: 5)
        try expect(keys(serial: "8").cardRoute().name, is: "1-3")
        guard case .several(.usbReader, let candidates)? = error({ try keys().cardRoute() }) else {
            Issue.record("one of two was chosen")
            return
        }
        expect(candidates.map(\.serial), is: ["7", "8"])
    }

    @Test func aServiceWithoutReadersLeavesTheUSB() throws {
        machine.change { $0.serviceTrouble = nil }
        expect(error { try keys().cardRoute() }, is: .link(.noReader))
        machine.plug(try FakeMachine.key(7), into: "1-2")
        try expect(keys().cardRoute().name, is: "1-2")
        // A serial number that nobody has: what the service said counts.
        expect(error { try keys(serial: "9").cardRoute() }, is: .link(.noReader))
        machine.change { $0.serviceTrouble = .timedOut("readers") }
        expect(error { try keys().cardRoute() }, is: .link(.timedOut("readers")))
    }

    @Test func aCardByItsPath() throws {
        machine.plug(try FakeMachine.key(7), into: "1-2", fido: "/dev/hidraw0")
        machine.plug(try FakeMachine.key(8), into: "1-3", card: false, fido: "/dev/hidraw1", address: 5)
        try expect(keys(path: "1-2").cardRoute().name, is: "1-2")
        try expect(keys(path: "/dev/hidraw0").cardRoute().name, is: "1-2")
        expect(error { try keys(path: "/dev/hidraw1").cardRoute() }, is: .noCard(path: "/dev/hidraw1"))
        expect(error { try keys(path: "1-9").cardRoute() }, is: .link(.noDevice(path: "1-9")))
        expect(error { try keys(over: .hid).channel() }, is: .cardRequired)
    }

    // MARK: FIDO

    @Test func theOnlyHIDDevice() throws {
        machine.plug(try FakeMachine.key(7), into: "1-2", fido: "/dev/hidraw0")
        try expect(keys().fidoRoute(), is: .reports(path: "/dev/hidraw0"))
        try expect(keys(over: .pcsc).fidoRoute(), is: .card)
        try expect(keys(path: "/dev/hidraw5").fidoRoute(), is: .reports(path: "/dev/hidraw5"))
        try expect(keys(path: "1-2").fidoRoute(), is: .reports(path: "/dev/hidraw0"))
        machine.plug(try FakeMachine.key(8), into: "1-3", fido: "/dev/hidraw1", address: 5, access: .denied)
        try expect(keys(serial: "7").fidoRoute(), is: .reports(path: "/dev/hidraw0"))
        guard case .several(.fido, let candidates)? = error({ try keys().fidoRoute() }) else {
            Issue.record("one of two was chosen")
            return
        }
        #expect(candidates.map(\.serial) == ["7", nil] && candidates.map(\.isAccessible) == [true, false])
    }

    @Test func noHIDDeviceAtAll() throws {
        expect(error { try keys().fidoRoute() }, is: .none(.fido, .serviceFailed(.serviceNotInstalled)))
        expect(error { try keys(over: .hid).fidoRoute() }, is: .none(.fido, .complete))
        machine.change { $0.serviceTrouble = nil }
        expect(error { try keys().fidoRoute() }, is: .none(.fido, .noReaders))
        machine.lay(nil, on: "A")
        expect(error { try keys().fidoRoute() }, is: .none(.fido, .emptyReaders(1)))
        machine.lay(try FakeMachine.key(7), on: "A")
        try expect(keys().fidoRoute(), is: .card)
    }

    @Test func aSerialNumberInTheDescriptorNeedsNoQuestion() throws {
        machine.plug(
            try FakeMachine.key(7), into: "1-2", card: false, fido: "/dev/hidraw0", vendor: 0x349E, serial: "T2")
        try expect(keys(serial: "T2").fidoRoute(), is: .reports(path: "/dev/hidraw0"))
        #expect(machine.opened.isEmpty)
        guard case .notFound("T3", _, _)? = error({ try keys(serial: "T3", over: .hid).fidoRoute() }) else {
            Issue.record("another key was selected")
            return
        }
    }

    // MARK: OTP and management

    @Test func theKeyboardOfAKey() throws {
        try expect(keys().otpRoute(), is: .card)
        expect(error { try keys(over: .hid).otpRoute() }, is: .none(.keyboard, .complete))
        machine.plug(try FakeMachine.key(7), into: "1-2", card: false, keyboard: "/dev/hidraw0")
        try expect(keys().otpRoute(), is: .reports(path: "/dev/hidraw0"))
        try expect(keys(path: "1-2").otpRoute(), is: .reports(path: "/dev/hidraw0"))
        try expect(keys(over: .usb).otpRoute(), is: .card)
        try expect(keys().managementRoute(), is: .keyboard(path: "/dev/hidraw0"))
        try expect(keys(serial: "7").managementRoute(), is: .keyboard(path: "/dev/hidraw0"))
        try expect(keys(path: "/dev/hidraw0").managementRoute(), is: .keyboard(path: "/dev/hidraw0"))
        try expect(keys(path: "/dev/hidraw0").fidoRoute(), is: .reports(path: "/dev/hidraw0"))
        machine.plug(
            try FakeMachine.key(9), into: "1-4", card: false, fido: "/dev/hidraw2", keyboard: "/dev/hidraw3", address: 6
        )
        try expect(keys(path: "/dev/hidraw3").fidoRoute(), is: .reports(path: "/dev/hidraw2"))
        machine.change(FakeMachine.unplug("1-4"))
        machine.plug(try FakeMachine.key(8), into: "1-3", card: false, keyboard: "/dev/hidraw1", address: 5)
        try expect(keys(serial: "8").otpRoute(), is: .reports(path: "/dev/hidraw1"))
        try expect(keys(serial: "9").otpRoute(), is: .card)
        guard case .several(.keyboard, let candidates)? = error({ try keys().otpRoute() }) else {
            Issue.record("one of two was chosen")
            return
        }
        expect(candidates.map(\.location), is: ["/dev/hidraw0", "/dev/hidraw1"])
    }

    @Test func managementByCardFirst() throws {
        machine.plug(try FakeMachine.key(7), into: "1-2", fido: "/dev/hidraw0", keyboard: "/dev/hidraw1")
        try expect(keys().managementRoute(), is: .fido(path: "/dev/hidraw0"))
        try expect(keys(path: "/dev/hidraw1").managementRoute(), is: .keyboard(path: "/dev/hidraw1"))
        machine.lay(try FakeMachine.key(7), on: "A")
        try expect(keys().managementRoute(), is: .card)
        try expect(keys(over: .pcsc).managementRoute(), is: .card)
        try expect(keys(over: .hid).managementRoute(), is: .fido(path: "/dev/hidraw0"))
        expect(keys().reportIdentity(at: "/dev/hidraw0").vendor, is: 0x1050)
        expect(keys().reportIdentity(at: "/dev/hidraw7").vendor, is: 0)
    }

    @Test func noMachineAtAll() throws {
        expect(error { try keys().managementRoute() }, is: .link(.serviceNotInstalled))
    }
}
