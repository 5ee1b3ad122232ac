// SPDX-License-Identifier: Apache-2.0

package import YKHardware
package import YKTransport

/// The devices of a machine, and how to open them. Tests have their own implementation.
package protocol Hardware: Sendable {
    /// Whether libusb-1.0 is installed.
    var hasUSBLibrary: Bool { get }
    /// Whether the kernel shows USB devices.
    var hasUSB: Bool { get }
    /// Whether the kernel has HID nodes.
    var hasHIDRaw: Bool { get }
    /// The USB devices; sends nothing to them.
    func usbDevices() -> [USBDevice]
    /// The HID devices; sends nothing to them.
    func hidDevices() throws(LinkError) -> [HIDDevice]
    /// The readers of the smart card service.
    func readers(timeout: Duration, cancellation: Cancellation) throws(LinkError) -> [ReaderStatus]
    /// All keys, each listed once.
    func keys(
        asking service: Bool, timeout: Duration, cancellation: Cancellation
    ) throws(LinkError) -> Discovery.Findings
    /// Connects to the card in a reader of the smart card service.
    func connect(reader: String, deadline: Deadline) throws(LinkError) -> sending any CardLink
    /// Connects to the card in a USB reader.
    func connect(_ device: USBDevice, deadline: Deadline) throws(LinkError) -> sending any CardLink
    /// Opens a HID device.
    func open(_ path: String, deadline: Deadline) throws(LinkError) -> sending any ReportLink
    /// Keys being attached, changed and removed.
    func events() -> AsyncStream<HardwareEvent>
    /// Readers and cards being added, changed and removed.
    func readerEvents() -> AsyncStream<ReaderEvent>
}

/// This machine.
struct SystemHardware: Hardware {
    var hasUSBLibrary: Bool { DirectUSB.isInstalled }

    var hasUSB: Bool { FileStatus("/sys/bus/usb/devices") != nil }

    var hasHIDRaw: Bool { FileStatus("/sys/class/hidraw") != nil }

    func usbDevices() -> [USBDevice] { DirectUSB.devices() }

    func hidDevices() throws(LinkError) -> [HIDDevice] { try HIDRaw.devices() }

    func readers(timeout: Duration, cancellation: Cancellation) throws(LinkError) -> [ReaderStatus] {
        try PCSC.readers(timeout: timeout, cancellation: cancellation)
    }

    func keys(
        asking service: Bool, timeout: Duration, cancellation: Cancellation
    ) throws(LinkError) -> Discovery.Findings {
        try Discovery.keys(asking: service, timeout: timeout, cancellation: cancellation)
    }

    func connect(reader: String, deadline: Deadline) throws(LinkError) -> sending any CardLink {
        try PCSC.connect(reader: reader, deadline: deadline)
    }

    func connect(_ device: USBDevice, deadline: Deadline) throws(LinkError) -> sending any CardLink {
        try DirectUSB.connect(device, deadline: deadline)
    }

    func open(_ path: String, deadline: Deadline) throws(LinkError) -> sending any ReportLink {
        try HIDRaw.open(path, deadline: deadline)
    }

    func events() -> AsyncStream<HardwareEvent> { Discovery.watch() }

    func readerEvents() -> AsyncStream<ReaderEvent> { PCSC.watch() }
}
