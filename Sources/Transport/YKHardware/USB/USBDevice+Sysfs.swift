// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKWire

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
