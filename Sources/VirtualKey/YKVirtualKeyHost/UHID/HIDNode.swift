// SPDX-License-Identifier: Apache-2.0

import Glibc

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

/// Searches for a new device's node for a limited time.
struct NodeSearch {
    private let place: String
    private let patience: Int
    private var left = 0
    private var isStarted = false

    /// Creates a search for the device at a location with at most this many attempts.
    init(place: String, patience: Int = 6000) {
        self.place = place
        self.patience = patience
    }

    /// How long to wait before the next attempt; `nil` if there is none.
    var pause: Duration? { left > 0 ? .milliseconds(10) : nil }

    /// Starts the search, once.
    mutating func start() {
        if !isStarted { left = patience }
        isStarted = true
    }

    /// Returns the node once found, an empty string when the attempts are used up, and `nil` before and after that.
    mutating func next() -> String? {
        guard left > 0 else { return nil }
        left -= 1
        guard let node = HIDNode.of(place: place) else { return left == 0 ? "" : nil }
        left = 0
        return node
    }
}
