// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport

/// The HID devices of a machine, as shown by its kernel, and the source of device events.
struct HIDMachine: Sendable {
    /// Used only for watching.
    var news = DeviceNews()
    /// The path of sysfs.
    var system = "/sys"
    /// The path of the nodes.
    var devices = "/dev"

    /// The security keys among the HID devices, ordered by node number.
    func keys() throws(LinkError) -> [HIDDevice] {
        guard access("\(system)/class", F_OK) == 0 else {
            throw .failed(code: UInt32(ENOENT), "\(system) does not exist, so HID devices cannot be listed")
        }
        let found = scan().compactMap { HIDDevice(sysPath: $0, devices: devices) }
        return found.sorted { ($0.path.utf8.count, $0.path) < ($1.path.utf8.count, $1.path) }
    }

    /// The folders of the hidraw devices.
    private func scan() -> [String] {
        let folder = "\(system)/class/hidraw"
        return SystemFile.names(in: folder).compactMap { SystemFile.real("\(folder)/\($0)") }
    }
}
