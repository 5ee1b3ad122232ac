// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKWire

/// The kernel's information about batteries and mains (Documentation/ABI/testing/sysfs-class-power).
public enum PowerSupply {
    /// Whether a battery is discharging and no other supply is connected; `false` if the kernel does not report it.
    ///
    /// - Parameter folder: The kernel's folder of power supplies.
    public static func isOnBattery(_ folder: String = "/sys/class/power_supply") -> Bool {
        var isDischarging = false
        for name in SystemFile.names(in: folder) {
            func value(_ file: String) -> String? { SystemFile.text("\(folder)/\(name)/\(file)")?.trimmed }
            // Batteries of mice and headsets have the scope Device.
            guard value("scope") != "Device" else { continue }
            switch value("type") {
            case "Battery"?: if value("status") == "Discharging" { isDischarging = true }
            case nil: continue
            default: if value("online") == "1" { return false }
            }
        }
        return isDischarging
    }
}
