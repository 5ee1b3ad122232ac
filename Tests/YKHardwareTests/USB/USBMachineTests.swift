// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import YKTestSupport
import YKTransport
import YKWire

@testable import YKHardware

@Suite struct USBMachineTests {
    private let names = ["manufacturer": "Yubico", "product": "YubiKey OTP+FIDO+CCID", "serial": "77"]

    @Test func devicesAreListedByWhatTheySay() throws {
        let bus = try FakeBus()
        try bus.plug("1-2", 4, texts: names, driver: "usbfs")
        try bus.plug("1-1.4", 3, hasNode: false)
        try bus.plug("1-3", 5, FakeBus.device + [9, 4, 0, 0, 0, 9, 0, 0, 0])
        try bus.plug("1-4", 6, [1, 2, 3])
        try bus.plug("usb1", 1)
        try bus.plug("1-2:1.0", 7)
        let found = bus.machine.all()
        #expect(found.map(\.usbPath) == ["1-1.4", "1-2"] && found.map(\.address) == [3, 4])
        expect(found.map(\.access), is: [.missing, .readable])
        let key = found[1]
        #expect(key.name == "Yubico YubiKey OTP+FIDO+CCID" && key.serial == "77" && key.readerName == key.name)
        #expect(key.vendor == 0x1050 && key.product == 0x0407 && key.bus == 1 && key.node.hasSuffix("bus/usb/001/004"))
        #expect(key.reader?.descriptor.number == 2 && key.reader?.driver == "usbfs")
        #expect(found[0].name == "" && found[0].readerName == "USB 1-1.4" && found[0].reader?.driver == nil)
        #expect(USBMachine(system: "/no-such-folder").all().isEmpty)
        _ = DirectUSB.devices()
    }

    @Test func holdersAreNamed() throws {
        let bus = try FakeBus()
        try bus.plug("1-2", 4, driver: "usbfs")
        try bus.plug("1-3", 5, driver: "acm")
        try bus.plug("1-4", 6)
        let found = bus.machine.all()
        let node = Glibc.open(found[0].node, O_RDONLY)
        defer { close(node) }
        #expect(DirectUSB.holders(of: found[1]).isEmpty)
        #expect(DirectUSB.holders(of: found[2]).isEmpty)
        _ = DirectUSB.holders(of: found[0])
        #expect(Processes.named("no such program").isEmpty)
    }

    @Test func whatCannotBeOpenedSaysWhy() throws {
        let bus = try FakeBus()
        try bus.plug("1-2", 4)
        try bus.plug("1-3", 5, FakeBus.device + FakeBus.configuration + FakeBus.keyboard)
        try bus.plug("1-4", 6, FakeBus.device + [9, 4, 2, 0, 0, 0x0B, 0, 0, 0] + FakeBus.reader.suffix(21))
        let found = bus.machine.all()
        let deadline = Deadline.after(.seconds(60))
        func failure(_ device: USBDevice, _ deadline: Deadline) -> LinkError? {
            do {
                _ = try DirectUSB.connect(device, deadline: deadline)
                return nil
            } catch { return error }
        }
        expect(failure(found[1], deadline), is: .noDevice(path: found[1].node))
        if case .malformed? = failure(found[2], deadline) {
        } else {
            Issue.record("a reader that does not say what it is")
        }
        if case .failed? = failure(found[0], deadline) {} else { Issue.record("a file that is no node") }
        unlink(found[0].node)
        expect(failure(found[0], deadline), is: .noDevice(path: found[0].node))
        let cancellation = Cancellation()
        cancellation.cancel()
        expect(failure(found[0], .after(.seconds(60), cancellation: cancellation)), is: .cancelled)
        var other = found[0]
        other.node = "/proc/self/pagemap/x"
        expect(
            failure(other, deadline), is: .failed(code: UInt32(ENOTDIR), "opening \(other.node): Not a directory"))
    }

    @Test func endpointsAreFound() throws {
        let interface = try #require(try USBDescriptors(decoding: FakeBus.key).interfaces.last)
        let endpoints = try #require(USBReaderEndpoints(interface))
        #expect(endpoints.output == 2 && endpoints.input == 0x82 && endpoints.interrupt == 0x83)
        expect(endpoints.packetSize, is: 64)
        var lame = interface
        lame.endpoints.removeFirst()
        expect(USBReaderEndpoints(lame), is: nil)
    }
}
