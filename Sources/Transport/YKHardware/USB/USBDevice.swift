// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A USB device with a card reader or a HID interface, as shown by the kernel.
public struct USBDevice: Sendable, Hashable {
    /// Whether this user may use the device's node.
    public typealias Access = HIDDevice.Access

    /// An interface, and the driver bound to it.
    public struct Interface: Sendable, Hashable {
        /// The interface descriptor.
        public var descriptor: USBDescriptors.Interface
        /// The kernel driver; `usbfs` when a program has claimed it, `nil` when unbound.
        public var driver: String?
    }

    /// The port, such as `1-2` or `1-1.4`.
    public var usbPath: String
    /// The folder in sysfs.
    public var sysPath: String
    /// The node, such as `/dev/bus/usb/001/004`.
    public var node: String
    /// The number of the bus, and of the device on it.
    public var bus, address: Int
    /// The USB vendor number.
    public var vendor: UInt16
    /// The USB product number.
    public var product: UInt16
    /// The release of the device, binary-coded decimal.
    public var release: UInt16
    /// The manufacturer's name, if the device reports one.
    public var manufacturer: String?
    /// The product name, if the device reports one.
    public var productName: String?
    /// The serial number, if present.
    public var serial: String?
    /// The interfaces, in the order of their numbers.
    public var interfaces: [Interface]
    /// Whether this user may use the node.
    public var access: Access

    /// Manufacturer and product, as far as reported.
    public var name: String { [manufacturer, productName].compactMap(\.self).joined(separator: " ") }
    /// The first card reader with both bulk endpoints. Tokens that are reached by control transfers alone have none (ICCD,
    /// protocols 1 and 2), such as StarSign and e-gate.
    public var reader: Interface? {
        interfaces.first { $0.descriptor.isCardReader && USBReaderEndpoints($0.descriptor) != nil }
    }
}
