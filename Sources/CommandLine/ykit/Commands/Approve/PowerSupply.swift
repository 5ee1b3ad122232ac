// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKWire

/// What the kernel tells of batteries and mains (Documentation/ABI/testing/sysfs-class-power).
enum PowerSupply {
    /// Whether a battery is being discharged and no other supply is connected. `false` where the kernel does not tell.
    ///
    /// - Parameters:
    ///   - folder: Where the kernel lists supplies.
    static func isOnBattery(_ folder: String = "/sys/class/power_supply") -> Bool {
        guard let directory = opendir(folder) else { return false }
        defer { closedir(directory) }
        var isDischarging = false
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            func value(_ file: String) -> String? {
                guard let bytes = try? Files.read("\(folder)/\(name)/\(file)") else { return nil }
                return String(decoding: bytes, as: UTF8.self).trimmed
            }
            // The battery of a mouse or headset is of scope Device.
            guard !name.hasPrefix("."), value("scope") != "Device" else { continue }
            switch value("type") {
            case "Battery"?: if value("status") == "Discharging" { isDischarging = true }
            case nil: continue
            default: if value("online") == "1" { return false }
            }
        }
        return isDischarging
    }
}
