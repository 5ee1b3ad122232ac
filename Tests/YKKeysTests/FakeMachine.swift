// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKTestSupport
import YKTransport
import YKVirtualKey

@testable import YKHardware
@testable import YKKeys
@testable import YKWire

/// A machine with virtual keys in its ports and readers.
final class FakeMachine: Hardware {
    struct Parts: Sendable {
        var usb: [USBDevice] = []
        var hid: [HIDDevice] = []
        var readers: [ReaderStatus] = []
        var hasUSBLibrary = true
        var hasUSB = true
        var hasHIDRaw = true
        /// Why the smart card service cannot be asked.
        var serviceTrouble: LinkError? = .serviceNotInstalled
        /// The key behind a reader's name, a USB port, or a node.
        var keys: [String: VirtualKey] = [:]
        /// Places that another program holds.
        var held: Set<String> = []
        /// What was opened, in order.
        var opened: [String] = []
        /// Changes to make, one each time that the machine is looked at.
        var changes: [@Sendable (inout Parts) -> Void] = []
    }

    private let parts = Mutex(Parts())

    var opened: [String] { parts.withLock { $0.opened } }

    func change(_ body: (inout Parts) -> Void) { parts.withLock { body(&$0) } }

    /// Makes a change when the machine has been looked at so many times.
    func afterwards(_ changes: [@Sendable (inout Parts) -> Void]) { change { $0.changes = changes } }

    private func look() -> Parts {
        parts.withLock { parts in
            if !parts.changes.isEmpty { parts.changes.removeFirst()(&parts) }
            return parts
        }
    }

    // MARK: Hardware

    var hasUSBLibrary: Bool { parts.withLock { $0.hasUSBLibrary } }

    var hasUSB: Bool { parts.withLock { $0.hasUSB } }

    var hasHIDRaw: Bool { parts.withLock { $0.hasHIDRaw } }

    func usbDevices() -> [USBDevice] { parts.withLock { $0.usb } }

    func hidDevices() -> [HIDDevice] { parts.withLock { $0.hid } }

    func readers(timeout: Duration, cancellation: Cancellation) throws(LinkError) -> [ReaderStatus] {
        let now = look()
        if let trouble = now.serviceTrouble { throw trouble }
        return now.readers
    }

    func keys(
        asking service: Bool, timeout: Duration, cancellation: Cancellation
    ) throws(LinkError) -> Discovery.Findings {
        let now = look()
        let readers = service && now.serviceTrouble == nil ? now.readers : []
        return Discovery.Findings(
            keys: Discovery.merge(now.usb, now.hid, readers) { _ in nil },
            serviceTrouble: service ? now.serviceTrouble : nil)
    }

    private func key(at place: String) throws(LinkError) -> VirtualKey {
        let now = parts.withLock { parts in
            parts.opened.append(place)
            return parts
        }
        if now.held.contains(place) { throw .busy(reader: place, holders: [.init(pid: 7, name: "scdaemon")]) }
        guard let key = now.keys[place] else { throw .noDevice(path: place) }
        return key
    }

    func connect(reader: String, deadline: Deadline) throws(LinkError) -> sending any CardLink {
        try key(at: reader).link()
    }

    func connect(_ device: USBDevice, deadline: Deadline) throws(LinkError) -> sending any CardLink {
        try key(at: device.usbPath).link()
    }

    func open(_ path: String, deadline: Deadline) throws(LinkError) -> sending any ReportLink {
        let key = try key(at: path)
        guard hidDevices().first(where: { $0.path == path })?.isFIDO ?? false else { return key.otpReportLink() }
        return key.reportLink()
    }

    func events() -> AsyncStream<HardwareEvent> {
        let keys = (try? keys(asking: true, timeout: .zero, cancellation: Cancellation()).keys) ?? []
        return AsyncStream { stream in
            for key in keys { stream.yield(.arrived(key)) }
            stream.yield(.enumerated)
            stream.finish()
        }
    }

    func readerEvents() -> AsyncStream<ReaderEvent> {
        AsyncStream { [self] stream in
            let now = look()
            if let trouble = now.serviceTrouble { stream.yield(.interrupted(trouble)) }
            for reader in now.readers { stream.yield(.changed(reader)) }
            stream.finish()
        }
    }
}

// MARK: - What is plugged in

extension FakeMachine {
    static func key(_ serial: UInt32, touch: VirtualInputs.Touch = .touched) throws -> VirtualKey {
        try VirtualKey.new(serial: serial, inputs: VirtualInputs(touch: { _ in touch }))
    }

    /// Puts a key into a reader of the smart card service.
    func lay(_ key: VirtualKey?, on reader: String) {
        change { parts in
            parts.serviceTrouble = nil
            parts.readers.removeAll { $0.name == reader }
            parts.readers.append(
                ReaderStatus(name: reader, hasCard: key != nil, atr: key?.link().identity.atr ?? []))
            parts.keys[reader] = key
        }
    }

    /// Plugs a key into a port: a card reader on the USB, a FIDO node and a keyboard as asked for.
    func plug(
        _ key: VirtualKey, into port: String, card: Bool = true, fido: String? = nil, keyboard: String? = nil,
        address: Int = 4, vendor: UInt16 = 0x1050, serial: String? = nil, access: HIDDevice.Access = .readable
    ) {
        change { parts in
            parts.usb.append(Self.usb(port, card: card, address: address, vendor: vendor, serial: serial, access))
            if card { parts.keys[port] = key }
            for (path, usage) in [(fido, HIDUsage.fido), (keyboard, .keyboard)] {
                guard let path else { continue }
                parts.hid.append(Self.hid(path, usage, port, address, vendor, serial, access))
                parts.keys[path] = key
            }
        }
    }

    /// Takes the key out of a port.
    static func unplug(_ port: String) -> @Sendable (inout Parts) -> Void {
        { parts in
            parts.usb.removeAll { $0.usbPath == port }
            parts.hid.removeAll { $0.usbPath == port }
        }
    }

    static func usb(
        _ port: String, card: Bool, address: Int, vendor: UInt16, serial: String?, _ access: HIDDevice.Access
    ) -> USBDevice {
        let interface = USBDescriptors.Interface(
            number: 0, interfaceClass: card ? 0x0B : 0x03,
            endpoints: [0x02, 0x82].map { .init(address: $0, kind: .bulk, packetSize: 64) })
        return USBDevice(
            usbPath: port, sysPath: "/sys/\(port)", node: "/dev/bus/usb/001/00\(address)", bus: 1, address: address,
            vendor: vendor, product: 0x0407, release: 0x0571, manufacturer: "Yubico", productName: "YubiKey",
            serial: serial, interfaces: [.init(descriptor: interface, driver: nil)], access: access)
    }

    static func hid(
        _ path: String, _ usage: HIDUsage, _ port: String, _ address: Int, _ vendor: UInt16, _ serial: String?,
        _ access: HIDDevice.Access
    ) -> HIDDevice {
        HIDDevice(
            path: path, sysPath: "/sys/\(port)/\(address)/\(path)", usbPath: port, vendor: vendor, product: 0x0407,
            name: "Yubico YubiKey", serial: serial, usage: usage, inputReportLength: 64, outputReportLength: 64,
            featureReportLength: 8, access: access)
    }
}
