// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKManagement
import YKTransport

/// A FIDO key on a hidraw node, and its serial number as far as it tells.
struct HIDNode {
    let device: HIDDevice
    let serial: String?

    /// The FIDO keys that are attached. Where the USB descriptor has no serial number, Yubico's keys are asked for it
    /// when `isAsked`; nothing blinks.
    static func attached(_ environment: Environment, asking isAsked: Bool) -> [HIDNode] {
        let devices = ((try? HIDRaw.devices()) ?? []).filter(\.isFIDO)
        return devices.map { device in
            let told = device.serial ?? (isAsked ? World.identity(fido: device, environment)?.serial : nil)
            return HIDNode(device: device, serial: told)
        }
    }

    /// The key on one line.
    var line: String {
        let more = [device.name.printable, serial.map { "serial \($0.printable)" } ?? "", trouble]
        return "\(device.path) (\(more.filter { !$0.isEmpty }.joined(separator: ", ")))"
    }

    private var trouble: String { device.access == .readable ? "" : "no permission" }
}
