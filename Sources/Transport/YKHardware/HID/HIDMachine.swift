// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport

/// The HID devices of a machine: where its kernel shows them, and who tells of them.
struct HIDMachine: Sendable {
    /// Asked only by who watches.
    var news = DeviceNews()
    /// Where sysfs is.
    var system = "/sys"
    /// Where the nodes are.
    var devices = "/dev"

    /// The security keys among the HID devices, in the order of their nodes' numbers.
    func keys() throws(LinkError) -> [HIDDevice] {
        guard access("\(system)/class", F_OK) == 0 else {
            throw .failed(code: UInt32(ENOENT), "\(system) is not there, so HID devices cannot be listed")
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
