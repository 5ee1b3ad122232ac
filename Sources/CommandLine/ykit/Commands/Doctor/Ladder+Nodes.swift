// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKTransport

/// The kernel's device nodes: whether they can be opened, and which programs hold them.
extension Ladder {
    var nodes: [Rung] {
        findings.devices.flatMap { device -> [Rung] in
            let what = device.isFIDO ? "FIDO" : "OTP"
            switch device.access {
            case .missing:
                return [
                    Rung(
                        "node", .bad, "the kernel has \(device.path) for \(what), but there is no such node here",
                        remedy: findings.machine == .plain
                            ? "udev makes it: sudo udevadm trigger --subsystem-match=hidraw"
                            : "hand it into the container: --device \(device.path)", exit: .permission)
                ]
            case .denied: return [denied(device.path, what)]
            case .readable:
                return [Rung("permission", .good, "\(device.path) for \(what) may be opened")] + held(device.path)
            }
        }
    }

    /// The other programs that have a node open, or hold it exclusively.
    private func held(_ path: String) -> [Rung] {
        if let why = findings.keys.lazy.compactMap({ $0.refusal(at: path) }).first { return [Rung("holder", why)] }
        let holders = findings.nodes[path]?.holders ?? []
        guard let first = holders.first else { return [] }
        return [
            Rung(
                "holder", .note, "\(path) is open in \(holders.words)",
                remedy: "if a command says that the key is busy: \(Explain.release(first))")
        ]
    }

    /// Explains an inaccessible node: its permissions, and what this user can do.
    func denied(_ path: String, _ what: String) -> Rung {
        let rule = findings.rule(path)
        var rung = Rung("permission", Explain.device(path, rule))
        rung.seen += " for \(what)"
        if let facts = findings.nodes[path] {
            rung.seen += " (\(facts.permissions), user \(facts.owner), group \(facts.group)"
            if !facts.listed.isEmpty { rung.seen += ", and \(facts.listed.joined(separator: ", ")) by its access list" }
            rung.seen += ")"
        }
        if findings.machine == .container {
            rung.remedy = "hand it into the container with its group: --device \(path) --group-add keep-groups"
        } else if rule == .applied {
            rung.remedy = seat
        }
        return rung
    }

    /// What the rule's "whoever sits at this machine" means for this session.
    private var seat: String {
        let group = UDevRule.group
        if Accounts.isMember(of: group), !Accounts.isRunning(as: group) {
            return "\(User.name) is in the group \(group), but not yet in this session: log out and in again"
        }
        let join =
            "or let \(User.name) use keys from anywhere, then log in again: "
            + "sudo usermod -aG \(group) \(User.name)"
        let login = findings.login
        guard login.isThere else {
            return "no logind runs here, so only the group counts; log in again after: "
                + "sudo usermod -aG \(group) \(User.name)"
        }
        guard let session = login.session else {
            return "this is not a login session (a service, a job, or sudo): run it from one\n\(join)"
        }
        if session.isRemote { return "this session came over the network: log in at the machine itself\n\(join)" }
        guard session.isActive else {
            let other = login.activeUser.map { $0 == User.name ? "another session of yours" : $0 } ?? "nobody"
            return "the screen shows \(other), not this session: switch to it (Ctrl+Alt+F1 to F7)\n\(join)"
        }
        return "this session is at the screen, so the key only has to be plugged in again"
    }
}

extension AskedKey {
    /// Explains why the node at a path is unusable, if a program holds it exclusively.
    func refusal(at path: String) -> Explanation? {
        guard place == path, case .failure(let why) = identity, why.exit == .busy else { return nil }
        return why
    }
}

extension [LinkError.Holder] {
    /// The programs with their process ids.
    var words: String {
        map { "\($0.name.printable) (pid \($0.pid))" }.joined(separator: ", ")
    }
}
