// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// A device on the USB as the kernel shows it in sysfs; nothing is asked of it.
package struct USBPresence: Sendable, Hashable {
    /// One interface of it.
    package struct Interface: Sendable, Hashable {
        /// The class: 3 for HID, 0B for smart card readers.
        package var kind: UInt8
        /// The kernel's driver that has it.
        package var driver: String?

        package init(kind: UInt8, driver: String? = nil) {
            self.kind = kind
            self.driver = driver
        }
    }

    /// The port, such as `1-2`.
    package var port: String
    package var vendor: UInt16
    package var product: UInt16
    /// Manufacturer and product as the device names them.
    package var name: String
    package var interfaces: [Interface]

    package init(port: String, vendor: UInt16, product: UInt16, name: String, interfaces: [Interface]) {
        self.port = port
        self.vendor = vendor
        self.product = product
        self.name = name
        self.interfaces = interfaces
    }

    /// All devices on the bus, in the order of their ports; `nil` where sysfs does not show the USB.
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
            let kind = line("\(part)/bInterfaceClass").flatMap { UInt8($0, radix: 16) } ?? 0
            let driver = SystemFile.target("\(folder)/\(part)/driver")?.split(separator: "/").last
            return Interface(kind: kind, driver: driver.map(String.init))
        }
        self.init(port: port, vendor: vendor, product: product, name: name, interfaces: interfaces)
    }
}
