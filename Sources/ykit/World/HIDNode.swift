// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKHardware
import YKTransport
import YKWire

/// A FIDO key on a hidraw node, and its serial number as far as it tells.
struct HIDNode {
    let device: HIDDevice
    let serial: String?

    /// The FIDO keys that are attached. Where the USB descriptor has no serial number, Yubico's keys are asked for it
    /// when `isAsked`; nothing blinks.
    static func attached(_ environment: Environment, asking isAsked: Bool) -> [HIDNode] {
        let devices = ((try? HIDRaw.devices()) ?? []).filter(\.isFIDO)
        return devices.map { device in
            let told = device.serial ?? (isAsked && devices.count > 0 ? ask(device, environment) : nil)
            return HIDNode(device: device, serial: told)
        }
    }

    /// Yubico's configuration over CTAPHID (vendor command 42): a length byte, then data objects; 02 is the serial
    /// number.
    private static func ask(_ device: HIDDevice, _ environment: Environment) -> String? {
        guard device.vendor == 0x1050, device.access == .readable,
            let node = try? HIDRaw.open(device.path, deadline: .after(.seconds(1))),
            let link = try? HIDFIDOLink(node, environment: environment),
            let page = try? link.call(
                .init(rawValue: 0x42), [0], deadline: .after(.seconds(1)), keepalive: { _ in }),
            let bytes = (try? TLV.list(Array(page.dropFirst())))?.value(0x02), bytes.count == 4
        else { return nil }
        return String(bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    }

    /// The key on one line.
    var line: String {
        let more = [device.name.printable, serial.map { "serial \($0.printable)" } ?? "", trouble]
        return "\(device.path) (\(more.filter { !$0.isEmpty }.joined(separator: ", ")))"
    }

    private var trouble: String { device.access == .readable ? "" : "no permission" }
}
