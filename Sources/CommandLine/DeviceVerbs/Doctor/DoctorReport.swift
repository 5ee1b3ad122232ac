// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKFIDO
import YKHardware
import YKKeys

/// The text of a report: the steps, followed by the details that are useful in a bug report.
struct DoctorReport {
    let facts: MachineFacts
    let checks: [Check]
    let system: SystemFacts

    /// The lines, without identifying data.
    func lines(_ masks: ReportMask) -> [String] { (head + Check.lines(checks) + [""] + details).map(masks.mask) }

    private var head: [String] {
        [
            "ykit \(Program.version)", "system: \(system.distribution), \(system.kernel)",
            "machine: \(facts.machine.rawValue)", "",
        ]
    }

    private var details: [String] {
        let service = facts.service
        let login = facts.login
        let session = login.session.map {
            "\($0.isActive ? "active" : "not active")\($0.isRemote ? ", remote" : "")\($0.seat.map { ", at \($0)" } ?? "")"
        }
        var lines = [
            "udev rules: \(system.rules.isEmpty ? "none about keys" : system.rules.joined(separator: " "))",
            "session: \(session ?? (login.isThere ? "none" : "no logind"))",
            "pcscd: \(service.program ?? "not installed"), version \(facts.serviceVersion ?? "?"), "
                + "socket \(service.path) \(service.hasSocket ? "there" : "not there"), "
                + "pcscd.socket \(service.socket), pcscd.service \(service.service)",
            PublicSuffixList.newest.title,
        ]
        for key in facts.usb ?? [] {
            let parts = key.interfaces.map { part in
                let node = part.hid.map { "\($0.driver ?? "no driver"), \($0.node ?? "no node")" }
                return "\(AttachedKey.hex(UInt16(part.kind)).dropFirst(2)) \(part.driver ?? "no driver")"
                    + (node.map { " (\($0))" } ?? "")
            }
            lines.append(
                "usb \(key.port): \(AttachedKey.hex(key.vendor)):\(AttachedKey.hex(key.product)) \(key.name.printable): "
                    + parts.joined(separator: "; "))
        }
        for (path, node) in facts.nodes.sorted(by: { $0.key < $1.key }) {
            lines.append(
                "node \(path): \(node.permissions) \(node.owner):\(node.group), access list for "
                    + "\(node.listed.count), open in \(node.holders.isEmpty ? "nothing that may be seen" : node.holders.words)"
            )
        }
        return lines
    }
}
