// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The USB devices of a machine: where its kernel shows them.
struct USBMachine: Sendable {
    /// Where sysfs is.
    var system = "/sys"
    /// Where the nodes are.
    var devices = "/dev"

    /// The devices that have a card reader or a HID interface, in the order of bus and number.
    func all() -> [USBDevice] {
        let folder = "\(system)/bus/usb/devices"
        let found = SystemFile.names(in: folder).compactMap { name -> USBDevice? in
            // Interfaces have a colon in their name, root hubs begin with "usb".
            guard name.first?.isNumber ?? false, !name.contains(":") else { return nil }
            return USBDevice(folder: "\(folder)/\(name)", devices: devices)
        }
        return found.sorted { ($0.bus, $0.address) < ($1.bus, $1.address) }
    }
}
