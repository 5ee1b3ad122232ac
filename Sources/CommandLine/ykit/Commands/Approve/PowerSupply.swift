// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKWire

/// The kernel's information about batteries and mains (Documentation/ABI/testing/sysfs-class-power).
enum PowerSupply {
    /// Whether a battery is discharging and no other supply is connected; `false` if the kernel does not report it.
    ///
    /// - Parameters:
    ///   - folder: The kernel's folder of power supplies.
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
            // The battery of a mouse or headset has scope Device.
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
