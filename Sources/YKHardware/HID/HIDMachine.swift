// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import YKTransport

/// The HID devices of a machine: where its kernel shows them, and the library that watches them.
struct HIDMachine: Sendable {
    /// Where libudev is missing, sysfs is read every half second.
    var library: UDevLibrary?
    /// Where sysfs is.
    var system = "/sys"
    /// Where the nodes are.
    var devices = "/dev"
    /// Whether the udev daemon runs.
    var hasDaemon: @Sendable () -> Bool = { access("/run/udev/control", F_OK) == 0 }

    private static let loaded = Mutex<HIDMachine?>(nil)

    /// This machine, to be watched; libudev is opened at the first use.
    static var this: HIDMachine {
        loaded.withLock { loaded in
            let machine = loaded ?? HIDMachine(library: .load())
            loaded = machine
            return machine
        }
    }

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
