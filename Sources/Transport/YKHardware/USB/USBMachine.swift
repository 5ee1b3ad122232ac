// SPDX-License-Identifier: Apache-2.0

import YKWire

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
