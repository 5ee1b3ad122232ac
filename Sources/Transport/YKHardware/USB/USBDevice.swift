// SPDX-License-Identifier: Apache-2.0

import Glibc
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

extension USBDevice {
    /// Reads the kernel's description of a device from a folder such as `/sys/bus/usb/devices/1-2`, without sending the
    /// device anything. Returns `nil` for a device that has neither a card reader nor a HID interface, is described
    /// inconsistently, or has just been unplugged.
    init?(folder: String, devices: String) {
        guard let bytes = SystemFile.bytes("\(folder)/descriptors", limit: USBDescriptors.sizeLimit),
            let descriptors = try? USBDescriptors(decoding: Array(bytes.prefix(USBDescriptors.sizeLimit))),
            descriptors.interfaces.contains(where: { $0.isCardReader || $0.isHID }),
            let facts = SystemFile.text("\(folder)/uevent").map(HIDDevice.variables),
            let bus = facts["BUSNUM"].flatMap({ Int($0) }), let address = facts["DEVNUM"].flatMap({ Int($0) }),
            let name = facts["DEVNAME"]
        else { return nil }
        usbPath = String(folder.split(separator: "/").last ?? "")
        sysPath = folder
        node = "\(devices)/\(name)"
        (self.bus, self.address) = (bus, address)
        (vendor, product, release) = (descriptors.vendor, descriptors.product, descriptors.release)
        manufacturer = Self.line("\(folder)/manufacturer")
        productName = Self.line("\(folder)/product")
        serial = Self.line("\(folder)/serial")
        interfaces = descriptors.interfaces.map { Interface(descriptor: $0) }
        access = HIDDevice.access(to: node)
        let configuration = Self.line("\(folder)/bConfigurationValue") ?? "1"
        for index in interfaces.indices where interfaces[index].descriptor.isCardReader {
            let part = "\(folder)/\(usbPath):\(configuration).\(interfaces[index].descriptor.number)"
            interfaces[index].driver = SystemFile.target("\(part)/driver")?.split(separator: "/").last.map(String.init)
        }
    }

    /// Reads a one-line file; `nil` if it is missing.
    private static func line(_ path: String) -> String? {
        guard let text = SystemFile.text(path)?.split(separator: "\n").first else { return nil }
        return text.isEmpty ? nil : String(text)
    }
}

/// The endpoints of a card reader (CCID 1.1 §5).
struct USBReaderEndpoints: Hashable, Sendable {
    var output: UInt8
    var input: UInt8
    var packetSize: Int
    /// The endpoint on which the reader reports card insertion and removal; not every reader has one.
    var interrupt: UInt8?
    /// The maximum size of such a report, in bytes.
    var newsSize: Int

    /// Finds the endpoints; `nil` if the interface lacks one of the two bulk endpoints.
    init?(_ interface: USBDescriptors.Interface) {
        guard let output = interface.endpoint(.bulk, isIn: false), let input = interface.endpoint(.bulk, isIn: true)
        else { return nil }
        self.output = output.address
        self.input = input.address
        packetSize = max(8, input.packetSize)
        let news = interface.endpoint(.interrupt, isIn: true)
        interrupt = news?.address
        newsSize = max(8, news?.packetSize ?? 8)
    }
}

/// The USB devices that a machine's kernel exposes.
struct USBMachine: Sendable {
    /// The root of sysfs.
    var system = "/sys"
    /// The root of the device nodes.
    var devices = "/dev"

    /// The devices with a card reader or a HID interface, ordered by bus and device number.
    func all() -> [USBDevice] {
        let folder = "\(system)/bus/usb/devices"
        let found = SystemFile.names(in: folder).compactMap { name -> USBDevice? in
            // The names of interfaces contain a colon; those of root hubs begin with "usb".
            guard name.first?.isNumber ?? false, !name.contains(bytesOf: ":") else { return nil }
            return USBDevice(folder: "\(folder)/\(name)", devices: devices)
        }
        return found.sorted { ($0.bus, $0.address) < ($1.bus, $1.address) }
    }
}
