// SPDX-License-Identifier: Apache-2.0

import Glibc
package import YKTransport
import YKVirtualKey

/// Presents a device to this machine through the kernel's uhid; programs find it as `/dev/hidraw…`.
package struct UHIDDevice {
    /// An event in the life of the device.
    package enum Event: Hashable, Sendable {
        /// The device was plugged in; its node, empty if it has no visible one.
        case inserted(node: String)
        /// The device was unplugged.
        case removed
    }

    /// Opens the kernel's file; returns its descriptor, or -1 and the error number.
    package typealias Opening = () -> (descriptor: Int32, errno: Int32)

    private let cancellation: Cancellation
    private let wake: Wake?
    private let report: (Event) -> Void
    private let open: Opening
    static let path = "/dev/uhid"

    /// Creates a host of devices; it plugs nothing in before ``serve(_:as:afterwards:)``.
    ///
    /// - Parameters:
    ///   - cancellation: Ends serving.
    ///   - wake: Interrupts the wait for the host's next report, for work that is done on another thread.
    ///   - open: Opens the kernel's file, by default `/dev/uhid`.
    ///   - report: Called for each event, on the thread that serves.
    package init(
        _ cancellation: Cancellation, wake: Wake? = nil,
        open: Opening? = nil, report: @escaping (Event) -> Void
    ) {
        (self.cancellation, self.wake, self.report) = (cancellation, wake, report)
        self.open = open ?? { KernelFile.opened(Self.path) }
    }

    /// Checks that devices can be created.
    ///
    /// - Throws: `missing`, `denied` or `failed`.
    package func check() throws(UHIDError) { _ = KernelFile(try opened()) }

    /// Serves a device from plugging in until it is unplugged or serving is cancelled; blocks the thread.
    ///
    /// - Parameters:
    ///   - description: The properties of the device; its location is replaced by one that no other device has.
    ///   - afterwards: Called after each report and each wait.
    /// - Throws: `missing`, `denied` or `failed` if the device cannot be created, `gone` if the kernel removes it.
    package func serve<Device: ReportDevice>(
        _ device: inout Device, as description: HIDDescription, afterwards: (inout Device) -> Void = { _ in }
    ) throws(UHIDError) {
        let file = KernelFile(try opened())
        var description = description
        description.place = "ykit-\(getpid())-\(file.descriptor)/input0"
        let wake = if let wake { wake } else { try Wake() }
        let reader = try KernelReader(file.descriptor, size: UHIDMessage.limit, arrived: wake)
        var isCreated = false
        defer {
            reader.stop()
            if isCreated {
                _ = file.send(UHIDMessage.destroy)
                report(.removed)
            }
        }
        guard file.send(UHIDMessage.create(description)) else { throw .gone }
        isCreated = true
        var search = NodeSearch(place: description.place)
        var pace = ReportPace(at: .now)
        var held: [UInt8]?
        while !cancellation.isCancelled, !device.isUnplugged {
            let due = held == nil ? device.pause(at: .now) : pace.pause(at: .now)
            let pauses = [search.pause, due, device.idlePause(at: .now)].compactMap(\.self)
            if !reader.hasNews { wake.wait(for: pauses.min(), until: cancellation) }
            guard let bytes = reader.next() else { throw .gone }
            let message = bytes.isEmpty ? nil : UHIDMessage(bytes)
            if message == .start { search.start() }
            if let node = search.next() { report(.inserted(node: node)) }
            if message == .close {
                held = nil
                device.closed(at: .now)
            }
            if let refusal = message?.refusal { _ = file.send(refusal) }
            // A report from the host is preceded by its report number, always 0.
            if case .output(let bytes) = message, bytes.first == 0 {
                pace.refill()
                device.receive(Array(bytes.dropFirst()), at: .now)
            }
            device.poll(at: .now)
            while let bytes = held ?? device.next(at: .now) {
                held = pace.takes(at: .now) ? nil : bytes
                guard held == nil else { break }
                guard file.send(UHIDMessage.input(bytes)) else { throw .gone }
            }
            afterwards(&device)
        }
    }

    private func opened() throws(UHIDError) -> Int32 {
        let (file, code) = open()
        guard file < 0 else { return file }
        switch code {
        case ENOENT, ENODEV, ENXIO: throw .missing(path: Self.path)
        case EACCES, EPERM: throw .denied(path: Self.path)
        default: throw .failed(path: Self.path, errno: code, String(cString: strerror(code)))
        }
    }
}

/// A HID device as described to the kernel.
package struct HIDDescription: Hashable, Sendable {
    /// The device name.
    var name: String
    /// The physical location, which distinguishes it from all others.
    var place = ""
    /// The serial number; may be empty.
    var serial: String
    /// The USB vendor number.
    var vendor: UInt16
    /// The USB product number.
    var product: UInt16
    /// The device release number, in binary-coded decimal.
    var version: UInt16
    /// The report descriptor.
    var descriptor: [UInt8]

    /// Describes a FIDO authenticator; it has no location yet.
    package init(name: String, serial: String, vendor: UInt16, product: UInt16, version: UInt16) {
        self.name = name
        self.serial = serial
        self.vendor = vendor
        self.product = product
        self.version = version
        descriptor = Self.fido
    }

    /// Describes the FIDO interface of a key.
    init(_ key: VirtualKeyState) {
        name = "\(key.usbMaker) \(key.usbProductName)"
        serial = String(key.profile.serial)
        vendor = key.profile.vendor
        product = key.usbProduct
        version = key.profile.release
        descriptor = Self.fido
    }

    /// Usage page F1D0, usage 01, reports of 64 bytes in (usage 20) and out (usage 21), CTAP 2.2 §11.2.8.1.
    static let fido: [UInt8] = [
        0x06, 0xD0, 0xF1, 0x09, 0x01, 0xA1, 0x01, 0x09, 0x20, 0x15, 0x00, 0x26, 0xFF, 0x00, 0x75, 0x08, 0x95, 0x40,
        0x81, 0x02, 0x09, 0x21, 0x15, 0x00, 0x26, 0xFF, 0x00, 0x75, 0x08, 0x95, 0x40, 0x91, 0x02, 0xC0,
    ]
}
