// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A device on the USB that has a card reader or a HID interface, as the kernel shows it.
public struct USBDevice: Sendable, Hashable {
    /// Whether this user may use the device's node.
    public typealias Access = HIDDevice.Access

    /// One interface, and who has it.
    public struct Interface: Sendable, Hashable {
        /// What the device says of it.
        public var descriptor: USBDescriptors.Interface
        /// The kernel's driver; `usbfs` when a program has claimed it, `nil` when nobody has.
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
    /// What the maker calls itself, where it says so.
    public var manufacturer: String?
    /// What the device is called, where it says so.
    public var productName: String?
    /// The serial number, where there is one.
    public var serial: String?
    /// The interfaces, in the order of their numbers.
    public var interfaces: [Interface]
    /// Whether this user may use the node.
    public var access: Access

    /// Manufacturer and product, or what there is of them.
    public var name: String { [manufacturer, productName].compactMap(\.self).joined(separator: " ") }
    /// The first card reader.
    public var reader: Interface? { interfaces.first { $0.descriptor.isCardReader } }
}
