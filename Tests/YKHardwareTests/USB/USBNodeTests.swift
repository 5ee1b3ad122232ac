// SPDX-License-Identifier: Apache-2.0

import CUSB
import Foundation
import Synchronization
import Testing
import YKTestSupport
import YKTransport
import YKWire

@testable import YKHardware

/// Transfers through libusb: what ends them, and what they leave behind.
@Suite struct USBNodeTests {
    private let fake = FakeUSB()

    private func node() throws -> USBNode {
        let interface = try #require(try USBDescriptors(decoding: FakeBus.key).interfaces.last)
        let endpoints = try #require(USBReaderEndpoints(interface))
        let handle = try USBHandle(fake.node, library: fake.library)
        try handle.claim(2)
        return USBNode(fake.node, handle, interface: 2, endpoints)
    }

    private var soon: Deadline { .after(.milliseconds(200)) }
    private var later: Deadline { .after(.seconds(60)) }

    @Test("an interface of control transfers alone is no reader, and the one behind it is")
    func tokensWithoutEndpoints() throws {
        let reader = try #require(try USBDescriptors(decoding: FakeBus.key).interfaces.last)
        let token = USBDescriptors.Interface(number: 0, interfaceClass: CCID.interfaceClass, interfaceProtocol: 1)
        var device = USBDevice(
            usbPath: "1-1", sysPath: "/sys/1-1", node: "/dev/bus/usb/001/002", bus: 1, address: 2, vendor: 0x096E,
            product: 1, release: 0, interfaces: [USBDevice.Interface(descriptor: token)], access: .readable)
        expect(device.reader, is: nil)
        device.interfaces.append(USBDevice.Interface(descriptor: reader))
        expect(device.reader?.descriptor, is: reader)
    }

    @Test func aCommandAndItsReply() throws {
        fake.answers = [
            FakeUSB.output: [.ends(LIBUSB_TRANSFER_COMPLETED, [1, 2, 3])],
            FakeUSB.input: [.ends(LIBUSB_TRANSFER_COMPLETED, [9, 8])],
        ]
        let node = try node()
        try node.send([1, 2, 3], deadline: later)
        expect(fake.sent, is: [[1, 2, 3]])
        try expect(node.receive(64, deadline: later), is: .data([9, 8]))
        try node.clearHalt(isIn: true)
        try node.request(1, value: 0x0203, deadline: later)
        node.close()
        node.close()
        let calls = fake.calls.filter { $0 != "events" }
        expect(
            calls,
            is: [
                "context", "wrap", "detach", "claim 2", "clear 130", "request 1 515 2", "cancel 131", "release 2",
                "close", "exit",
            ])
        expect(fake.alive, is: 0)
        #expect(throws: USBFailure.link(.removed)) { try node.send([1], deadline: later) }
        #expect(throws: USBFailure.link(.removed)) { try node.clearHalt(isIn: false) }
        try expect(node.news(), is: nil)
    }

    @Test("a deadline and a cancellation end every wait, and the transfer with it")
    func waitsEnd() throws {
        let node = try node()
        #expect(throws: USBFailure.link(.timedOut("the reader's answer"))) { try node.receive(64, deadline: soon) }
        #expect(throws: USBFailure.link(.timedOut("the reader to accept a command"))) {
            try node.send([1], deadline: soon)
        }
        let cancellation = Cancellation()
        let submitted = Semaphore()
        fake.onSubmit = { submitted.post() }
        _ = SystemThread.start {
            submitted.wait()
            cancellation.cancel()
        }
        let deadline = Deadline.after(.seconds(60), cancellation: cancellation)
        #expect(throws: USBFailure.link(.cancelled)) { try node.receive(64, deadline: deadline) }
        #expect(throws: USBFailure.link(.cancelled)) { try node.send([1], deadline: deadline) }
        #expect(throws: USBFailure.link(.cancelled)) { try node.request(1, value: 0, deadline: deadline) }
        #expect(fake.calls.filter { $0 == "cancel 130" }.count == 2 && fake.calls.contains("cancel 2"))
        node.close()
        expect(fake.alive, is: 0)
    }

    @Test(arguments: [FakeUSB.input, FakeUSB.output]) func aCancelledTaskCancelsItsTransfer(
        _ endpoint: UInt8
    ) async throws {
        let begun = Signal()
        fake.onSubmit = { begun.send() }
        let blocking = try Blocking()
        let task = Task {
            try await blocking.run {
                let node = try node()
                let deadline = ServiceEnvironment(timeout: .seconds(600)).deadline()
                let failure = #expect(throws: USBFailure.self) {
                    if endpoint == FakeUSB.input { _ = try node.receive(64, deadline: deadline) }
                    try node.send([1], deadline: deadline)
                }
                return (failure, fake.calls.filter { $0.hasPrefix("cancel") })
            }
        }
        await begun.wait()
        task.cancel()
        let (failure, calls) = try await task.value
        #expect(failure == .link(.cancelled) && calls == ["cancel \(endpoint)"])
    }

    @Test func bytesThatCameBeforeTheCancellationAreKept() throws {
        fake.remains = [7]
        let node = try node()
        try expect(node.receive(64, deadline: soon), is: .data([7]))
    }

    @Test func closingEndsThoughATransferDoesNot() throws {
        fake.remains = nil
        let node = try node()
        try expect(node.news(), is: nil)
        node.close()
        #expect(fake.calls.last == "exit" && fake.alive == 1)
    }

    @Test func newsComesBesideAReply() throws {
        fake.answers = [FakeUSB.interrupt: [.ends(LIBUSB_TRANSFER_COMPLETED, [0x50, 3])]]
        let node = try node()
        try expect(node.news(), is: [0x50, 3])
        try expect(node.news(), is: nil)
        fake.answers = [FakeUSB.input: [.ends(LIBUSB_TRANSFER_COMPLETED, [])]]
        try expect(node.receive(64, deadline: later), is: .data([]))
    }

    @Test("what the end of a transfer means", arguments: [true, false])
    func failures(isPulledOut: Bool) throws {
        if isPulledOut { fake.unplug() }
        let node = try node()
        let table: [(libusb_transfer_status, USBFailure)] = [
            (LIBUSB_TRANSFER_NO_DEVICE, .link(.removed)), (LIBUSB_TRANSFER_STALL, .stalled),
            (
                LIBUSB_TRANSFER_OVERFLOW,
                .link(isPulledOut ? .removed : .unresponsive("the reader sent more than was requested"))
            ),
            (
                LIBUSB_TRANSFER_ERROR,
                .link(isPulledOut ? .removed : .failed(code: 0, "a USB transfer failed"))
            ),
        ]
        for (status, failure) in table {
            fake.answers = [FakeUSB.input: [.ends(status, [])], FakeUSB.output: [.ends(status, [])]]
            #expect(throws: failure) { try node.receive(64, deadline: later) }
            #expect(throws: failure) { try node.send([1], deadline: later) }
        }
        let codes: [(libusb_error, USBFailure)] = [
            (LIBUSB_ERROR_NO_DEVICE, .link(.removed)), (LIBUSB_ERROR_PIPE, .stalled),
            (LIBUSB_ERROR_TIMEOUT, .link(.timedOut("a USB transfer"))),
            (LIBUSB_ERROR_IO, .link(isPulledOut ? .removed : .failed(code: 0, "a libusb call failed with -1"))),
        ]
        for (code, failure) in codes {
            fake.answers = [FakeUSB.output: [.refused(code)]]
            #expect(throws: failure) { try node.send([1], deadline: later) }
            fake.codes = ["events": [code]]
            #expect(throws: failure) { try node.receive(64, deadline: later) }
        }
        fake.answers = [FakeUSB.output: [.ends(LIBUSB_TRANSFER_COMPLETED, [1])]]
        #expect(throws: USBFailure.link(.unresponsive("the reader accepted only a part of a command"))) {
            try node.send([1, 2], deadline: later)
        }
        node.close()
        expect(fake.alive, is: 0)
    }

    @Test func anInterruptedWaitGoesOn() throws {
        fake.codes = ["events": [LIBUSB_ERROR_INTERRUPTED]]
        fake.answers = [FakeUSB.input: [.ends(LIBUSB_TRANSFER_COMPLETED, [5])]]
        try expect(node().receive(64, deadline: later), is: .data([5]))
    }

    // MARK: opening

    private func failure(
        _ codes: [String: [libusb_error]], _ deadline: @autoclosure () -> Deadline
    ) throws -> LinkError? {
        let bus = try FakeBus()
        try bus.plug("1-2", 4)
        let device = try #require(bus.machine.all().first)
        fake.codes = codes
        do throws(LinkError) {
            let (node, descriptor) = try USBNode.open(device, deadline(), library: fake.library)
            expect(descriptor.level, is: .extendedAPDU)
            node.close()
            return nil
        } catch {
            if case .noDevice = error { return .noDevice(path: "") }
            if case .accessDenied = error { return .accessDenied(.device(path: "")) }
            if case .failed(let code, _) = error { return .failed(code: code, "") }
            return error
        }
    }

    @Test func whatKeepsADeviceFromBeingOpened() throws {
        try expect(failure([:], later), is: nil)
        try expect(failure(["claim 2": [LIBUSB_ERROR_BUSY, LIBUSB_ERROR_BUSY]], later), is: nil)
        let many = Array(repeating: LIBUSB_ERROR_BUSY, count: 1000)
        try expect(failure(["claim 2": many], soon), is: .busy(reader: "USB 1-2", holders: []))
        try expect(failure(["claim 2": [LIBUSB_ERROR_ACCESS]], later), is: .accessDenied(.device(path: "")))
        try expect(failure(["claim 2": [LIBUSB_ERROR_NO_DEVICE]], later), is: .noDevice(path: ""))
        try expect(failure(["context": [LIBUSB_ERROR_NO_MEM]], later), is: .failed(code: 0, ""))
        let before = fake.calls.count
        try expect(failure(["wrap": [LIBUSB_ERROR_OTHER]], later), is: .failed(code: 0, ""))
        expect(Array(fake.calls[before...]), is: ["context", "wrap", "exit"])
    }

    @Test func withoutTheLibrary() throws {
        let bus = try FakeBus()
        try bus.plug("1-2", 4)
        let device = try #require(bus.machine.all().first)
        #expect(throws: LinkError.usbLibraryNotInstalled) {
            _ = try USBNode.open(device, later, library: USBLibrary.load("libykit-nowhere.so.0"))
        }
        #expect(USBLibrary.load("libm.so.6") == nil)
        #expect(DirectUSB.isInstalled && USBLibrary.load() != nil)
    }
}
