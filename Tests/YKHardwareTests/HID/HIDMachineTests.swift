// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing
import YKTestSupport
import YKTransport
import YKWire

@testable import YKHardware

@Suite struct HIDMachineTests {
    @Test func keysAreListedByWhatTheirDescriptorsSay() throws {
        let system = try FakeSystem()
        try system.plug(10, id: "0003:0000311F:00004A1A", name: "TrustKey", serial: "77")
        try system.plug(2)
        try system.plug(3, FakeSystem.keyboard, at: "usb1/1-1.4/1-1.4:1.0")
        try system.plug(4, FakeSystem.keyboard, id: "0003:0000046D:0000C31C", name: "A keyboard")
        try system.plug(5, FakeSystem.mouse)
        try system.plug(6, "06d0")
        try system.plug(7, id: "nonsense")
        try system.plug(8, at: "virtual/misc/uhid", hasNode: false)
        try system.plug(9, at: "virtual/misc/uhid", name: BridgeDevice.guardName)
        let keys = try system.machine.keys()
        expect(keys.map { $0.path.split(separator: "/").last }, is: ["hidraw2", "hidraw3", "hidraw8", "hidraw10"])
        expect(keys.map(\.usbPath), is: ["1-2", "1-1.4", nil, "1-2"])
        #expect(keys.map(\.isFIDO) == [true, false, true, true] && keys.map(\.isOTP) == [false, true, false, false])
        expect(keys.map(\.access), is: [.readable, .readable, .missing, .readable])
        let key = try #require(keys.last)
        #expect(key.vendor == 0x311F && key.product == 0x4A1A && key.name == "TrustKey" && key.serial == "77")
        #expect(key.usagePage == 0xF1D0 && key.inputReportLength == 64 && key.outputReportLength == 64)
        #expect(keys[0].serial == nil && keys[1].featureReportLength == 8 && keys[1].usage == .keyboard)
        let bridges = BridgeDevice.all(system: system.machine.system, devices: system.machine.devices)
        expect(bridges.map(\.name), is: [BridgeDevice.guardName])
    }

    @Test func aMachineWithoutSysfsSaysSo() {
        let machine = HIDMachine(system: "/no-such-folder")
        #expect(throws: LinkError.self) { try machine.keys() }
    }

    @Test func thisMachineIsListed() throws {
        _ = try HIDRaw.devices()
        let library = try #require(UDevLibrary.load())
        if let monitor = library.monitor(.kernel) {
            #expect(monitor.descriptor >= 0)
            monitor.close()
        }
        #expect(UDevLibrary.load("libykit-no-such-library.so") == nil)
        #expect(UDevLibrary.load("libc.so.6") == nil)
    }

    @Test func numbersAndPortsAreReadFromTheKernelsWords() {
        expect(HIDDevice.numbers("0003:00001050:00000407").map { [$0.vendor, $0.product] }, is: [0x1050, 0x0407])
        for text in ["", "0003:1050", "0003:xyz:0407", "1:2:3:4"] { #expect(HIDDevice.numbers(text) == nil) }
        let virtual = "/sys/devices/platform/vhci_hcd.0/usb3/3-1/3-1:1.1/0003:1050:0407.0002/hidraw/hidraw1"
        expect(HIDDevice.usbPath(in: virtual), is: "3-1")
        expect(HIDDevice.usbPath(in: "/sys/devices/virtual/misc/uhid/0003:1050:0120.0001/hidraw/hidraw0"), is: nil)
        expect(HIDDevice.variables("A=1=2\nB=\nC\nD=x"), is: ["A": "1=2", "D": "x"])
    }
}

/// Devices that come and go.
@Suite struct HIDWatchTests {
    /// A machine whose monitor is a socket: a byte on it is an event.
    private final class Bell: Sendable {
        let ends: [Int32]
        let (begun, closed) = (Signal(), Signal())
        let sources = Mutex<[UDevLibrary.Source]>([])

        init() {
            var ends: [Int32] = [-1, -1]
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends)
            self.ends = ends
        }

        deinit { for end in ends { close(end) } }

        func ring() { _ = send(ends[1], [1], 1, Int32(MSG_NOSIGNAL)) }

        var library: UDevLibrary {
            UDevLibrary(
                monitor: { [self] source in
                    sources.withLock { $0.append(source) }
                    begun.send()
                    return UDevMonitor(
                        descriptor: ends[0],
                        take: { [self] in
                            var byte: UInt8 = 0
                            return recv(ends[0], &byte, 1, 0) == 1
                        }, close: { [self] in closed.send() })
                })
        }
    }

    @Test func devicesComeChangeAndGo() async throws {
        let system = try FakeSystem()
        let bell = Bell()
        try system.plug(0)
        var machine = system.machine
        machine.news.library = bell.library
        let first = try #require(try machine.keys().first)
        var events = machine.watch().makeAsyncIterator()
        await expect(events.next(), is: .arrived(first))
        await expect(events.next(), is: .enumerated)
        try system.plug(1, name: "Another")
        let second = try #require(try machine.keys().last)
        bell.ring()
        await expect(events.next(), is: .arrived(second))
        try system.removeNode(1)
        bell.ring()
        var changed = second
        changed.access = .missing
        await expect(events.next(), is: .changed(changed))
        try system.unplug(0)
        bell.ring()
        await expect(events.next(), is: .left(first))
        expect(bell.sources.withLock { $0 }, is: [.kernel])
    }

    @Test func theDaemonIsAskedWhereItRuns() async throws {
        let system = try FakeSystem()
        let bell = Bell()
        var machine = system.machine
        machine.news.library = bell.library
        machine.news.hasDaemon = { true }
        let task = Task { [machine] in
            for await _ in machine.watch() {}
        }
        await bell.begun.wait()
        expect(bell.sources.withLock { $0 }, is: [.daemon])
        task.cancel()
        await task.value
        await bell.closed.wait()
    }

    @Test func withoutLibudevSysfsIsReadAgainAndAgain() async throws {
        let system = try FakeSystem()
        var events = system.machine.watch().makeAsyncIterator()
        await expect(events.next(), is: .enumerated)
        try system.plug(0)
        guard case .arrived = await events.next() else {
            Issue.record("nobody told that a device arrived")
            return
        }
    }

    @Test func thisMachineIsWatched() async {
        var events = HIDRaw.watch().makeAsyncIterator()
        #expect(await events.next() != nil)
    }
}
