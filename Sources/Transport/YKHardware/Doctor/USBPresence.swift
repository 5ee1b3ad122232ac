// SPDX-License-Identifier: Apache-2.0

/// A USB device as shown by the kernel in sysfs; nothing is sent to it.
package struct USBPresence: Sendable, Hashable {
    /// One interface of it.
    package struct Interface: Sendable, Hashable {
        /// The name in sysfs, such as `1-2:1.1`.
        package var name: String
        /// The class: 3 for HID, 0B for smart card readers.
        package var kind: UInt8
        /// The kernel driver bound to it; `usbfs` when a program has claimed it.
        package var driver: String?
        /// The HID device that the kernel created for it, and its state.
        package var hid: HID?

        /// Whether it is a smart card reader.
        package var isReader: Bool { kind == 0x0B }
        /// Whether it is a HID interface.
        package var isHID: Bool { kind == 3 }
    }

    /// A HID device.
    package struct HID: Sendable, Hashable {
        /// The name in sysfs, such as `0003:1050:0407.0001`.
        package var name: String
        /// The kernel driver bound to it.
        package var driver: String?
        /// The name of its node, such as `hidraw0`.
        package var node: String?
    }

    /// The port, such as `1-2`.
    package var port: String
    package var vendor: UInt16
    package var product: UInt16
    /// Manufacturer and product as reported by the device.
    package var name: String
    /// The serial number in its descriptor.
    package var serial: String?
    /// Whether the kernel may use it; programs such as USBGuard can forbid that.
    package var isAuthorized: Bool
    package var interfaces: [Interface]
}

extension USBPresence {
    /// All USB devices, ordered by port; `nil` when sysfs does not show any USB.
    package static func all(system: String = "/sys") -> [USBPresence]? {
        let folder = "\(system)/bus/usb/devices"
        guard SystemFile.real(folder) != nil else { return nil }
        let names = SystemFile.names(in: folder).sorted()
        return names.filter { !$0.contains(":") && !$0.hasPrefix("usb") }.compactMap { port in
            USBPresence(port: port, folder: folder, names: names)
        }
    }

    private init?(port: String, folder: String, names: [String]) {
        func line(_ file: String) -> String? {
            SystemFile.text("\(folder)/\(file)").map { String($0.prefix { $0 != "\n" }) }
        }
        guard let vendor = line("\(port)/idVendor").flatMap({ UInt16($0, radix: 16) }),
            let product = line("\(port)/idProduct").flatMap({ UInt16($0, radix: 16) })
        else { return nil }
        let name = [line("\(port)/manufacturer"), line("\(port)/product")].compactMap(\.self).joined(separator: " ")
        let interfaces = names.filter { $0.hasPrefix("\(port):") }.map { part in
            Interface(
                name: part, kind: line("\(part)/bInterfaceClass").flatMap { UInt8($0, radix: 16) } ?? 0,
                driver: Self.driver("\(folder)/\(part)"), hid: Self.hid("\(folder)/\(part)"))
        }
        self.init(
            port: port, vendor: vendor, product: product, name: name, serial: line("\(port)/serial"),
            isAuthorized: line("\(port)/authorized") != "0", interfaces: interfaces)
    }

    private static func driver(_ folder: String) -> String? {
        SystemFile.target("\(folder)/driver")?.split(separator: "/").last.map(String.init)
    }

    private static func hid(_ folder: String) -> HID? {
        guard let name = SystemFile.names(in: folder).first(where: { $0.hasPrefix("0003:") }) else { return nil }
        let node = SystemFile.names(in: "\(folder)/\(name)/hidraw").first
        return HID(name: name, driver: driver("\(folder)/\(name)"), node: node)
    }
}
