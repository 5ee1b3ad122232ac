// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// The HID device of a bridge to smart cards, to a remote key or of a guard. It is no key: what it presents is used in
/// another way.
package struct BridgeDevice: Hashable, Sendable {
    /// The vendor number: pid.codes, for open projects.
    package static let vendor: UInt16 = 0x1209
    /// The product number.
    package static let product: UInt16 = 0x796B

    /// The name of a guard's device, which may have the numbers of its key.
    package static let guardName = "ykit guard"

    /// The node, such as `/dev/hidraw0`.
    package let path: String
    /// Its name, which says what it is; empty without one.
    package let name: String
    /// The user who owns the node, as set by udev; `nil` without one.
    package let owner: String?
    /// Whether this user may use it.
    package let access: HIDDevice.Access

    /// The bridges of this machine, ordered by node number.
    package static func all(system: String = "/sys", devices: String = "/dev") -> [BridgeDevice] {
        let folder = "\(system)/class/hidraw"
        let found = SystemFile.names(in: folder).compactMap { name -> BridgeDevice? in
            guard let facts = SystemFile.text("\(folder)/\(name)/device/uevent").map(HIDDevice.variables),
                let numbers = facts["HID_ID"].flatMap(HIDDevice.numbers),
                let sysPath = SystemFile.real("\(folder)/\(name)"),
                HIDDevice.isBridge(numbers, facts["HID_NAME"], at: sysPath)
            else { return nil }
            let path = "\(devices)/\(name)"
            return BridgeDevice(
                path: path, name: facts["HID_NAME"] ?? "", owner: facts["HID_UNIQ"], access: HIDDevice.access(to: path))
        }
        return found.sorted { ($0.path.utf8.count, $0.path) < ($1.path.utf8.count, $1.path) }
    }

    /// The names of the other programs that have it open, each once, as far as this user may see them: the user's own.
    package var programs: [String] {
        Set(Processes.others().filter { Processes.open(by: $0).contains(path) }.map { Processes.holder($0).name })
            .sorted()
    }
}

extension HIDDevice {
    /// Whether vendor and product number are a bridge's, or a device of a program has the name of a guard.
    static func isBridge(_ numbers: (vendor: UInt16, product: UInt16), _ name: String?, at sysPath: String) -> Bool {
        numbers == (BridgeDevice.vendor, BridgeDevice.product)
            || name == BridgeDevice.guardName && sysPath.contains("/virtual/misc/uhid/")
    }
}
