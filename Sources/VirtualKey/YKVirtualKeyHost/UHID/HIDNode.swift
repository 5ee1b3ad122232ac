// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKVirtualKey

/// Finds the node that programs open for a HID device.
enum HIDNode {
    /// Returns the node, such as `/dev/hidraw0`, of the device at a location, from `/sys/class/hidraw`; `nil` while it
    /// has none.
    static func of(place: String, in folder: String = "/sys/class/hidraw") -> String? {
        guard let list = opendir(folder) else { return nil }
        defer { closedir(list) }
        while let entry = readdir(list) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.hasPrefix("hidraw") else { continue }
            let lines = text("\(folder)/\(name)/device/uevent").split(separator: "\n")
            if lines.contains(Substring("HID_PHYS=\(place)")) { return "/dev/\(name)" }
        }
        return nil
    }

    private static func text(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var block = [UInt8](repeating: 0, count: 4096)
        let count = read(file, &block, block.count)
        return String(decoding: block.prefix(max(0, count)), as: UTF8.self)
    }
}
