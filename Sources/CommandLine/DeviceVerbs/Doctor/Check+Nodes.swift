// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import YKHardware
import YKKeys
import YKTransport
import YKWire

extension Check.Words {
    /// The state of a device node.
    init(_ path: String, _ finding: NodeFinding, _ diagnosis: Diagnosis) {
        switch finding {
        case .missing(.card):
            self.init("\(path), for the smart card without pcscd, does not exist here", diagnosis.access)
        case .missing(let use):
            self.init(
                "the kernel has \(path) for \(use.words), but there is no such node here",
                diagnosis.machine == .plain
                    ? "udev creates it: sudo udevadm trigger --subsystem-match=hidraw"
                    : "pass it into the container: --device \(path)", exit: .permission)
        case .accessible(.card): self.init("\(path) for the smart card can be opened")
        case .accessible(let use): self.init("\(path) for \(use.words) can be opened")
        case .denied(let use, let rule, let facts, let seat):
            self.init(Explanation(Concerning(.file(path), rule)))
            self.seen += " for \(use.words)" + (facts.map(Self.permissions) ?? "")
            if diagnosis.machine == .container {
                remedy = "pass it into the container with its group: --device \(path) --group-add keep-groups"
            } else if let seat {
                remedy = Self.advice(seat)
            }
        case .open(let holders):
            self.init(
                "\(path) is open in \(holders.words)",
                holders.first.map { "if a command says that the key is busy: \(Self.asked($0))" })
        case .held(let holders):
            self.init(
                "the smart card at \(path) is in use by \(holders.words)", holders.first.map(Self.release), exit: .busy)
        case .refused(let why): self.init(Explanation(why))
        }
    }

    private static func permissions(_ facts: NodeFacts) -> String {
        let listed = facts.listed.listed()
        return " (\(facts.permissions), user \(facts.owner), group \(facts.group)"
            + (facts.listed.isEmpty ? ")" : ", and \(listed) by its access list)")
    }

    private static func advice(_ seat: SeatAccess) -> String {
        let group = UDevRule.group
        let join =
            "or let \(User.name) use keys from anywhere, then log in again: "
            + "sudo usermod -aG \(group) \(User.name)"
        switch seat {
        case .groupPending:
            return "\(User.name) is in the group \(group), but not yet in this session: log out and in again"
        case .noLogind:
            return "no logind runs here, so only the group counts; log in again after: "
                + "sudo usermod -aG \(group) \(User.name)"
        case .noSession: return "this is not a login session (a service, a job, or sudo): run it from one\n\(join)"
        case .remote: return "this session is remote: log in at the machine itself\n\(join)"
        case .inactive(let user):
            let other = user.map { $0 == User.name ? "another session of yours" : $0 } ?? "nobody"
            return "the screen shows \(other), not this session: switch to it (Ctrl+Alt+F1 to F7)\n\(join)"
        case .active: return "this session is on the screen, so the key only needs to be plugged in again"
        }
    }

    /// How to make a holder release a card and, if known, how to keep it from taking it again.
    fileprivate static func release(_ holder: LinkError.Holder) -> String {
        holder.name == "scdaemon" ? releaseBySCDaemon : asked(holder)
    }

    /// How to make a holder release a card, as of a card that is busy.
    private static func asked(_ holder: LinkError.Holder) -> String {
        Explanation(LinkError.busy(reader: "", holders: [holder])).hint ?? ""
    }

    /// How to make GnuPG's scdaemon share a card. By default it bypasses pcscd, and with pcscd it takes the card
    /// exclusively; it asks for the PIN again if another application is selected.
    private static let releaseBySCDaemon = """
        gpgconf --kill all
        to have it share the card from then on:
        printf '%s\\n' disable-ccid pcsc-shared 'disable-application piv' >> ~/.gnupg/scdaemon.conf
        """
}

extension NodeFinding.Use {
    fileprivate var words: String {
        switch self {
        case .fido: "FIDO"
        case .otp: "OTP"
        case .card: "the smart card without pcscd"
        }
    }
}

extension [LinkError.Holder] {
    /// The programs with their process ids.
    var words: String {
        map { "\($0.name.printable) (pid \($0.pid))" }.listed()
    }
}

// MARK: - the smart card service

extension Check.Words {
    /// The smart card service, or how to do without it.
    init(_ finding: ServiceFinding, _ diagnosis: Diagnosis) {
        switch finding {
        case .works(let version, let protocolVersion):
            self.init(
                "the smart card service works: pcscd" + (version.map { " \($0)" } ?? "")
                    + (protocolVersion.map { " (protocol \($0))" } ?? ""))
        case .noUSBLibrary: self.init(Explanation(LinkError.usbLibraryNotInstalled))
        case .unavailable(let error, let obstacle, let need):
            self.init(Explanation(error))
            if error == .serviceNotRunning { remedy = "sudo systemctl enable --now pcscd.socket" }
            if let obstacle { explain(obstacle, diagnosis) }
            switch need {
            case .none: seen += "; no key here needs it"
            case .replaced: seen += "; ykit uses the key without it, most other programs do not"
            case .needed: break
            }
        }
    }

    private mutating func explain(_ obstacle: ServiceFinding.Obstacle, _ diagnosis: Diagnosis) {
        switch obstacle {
        case .notHandedIn(let socket, let hasProgram):
            seen = "the machine's smart card service is not available here: no \(socket)"
            let handIn =
                "start the container with: -v /run/pcscd:/run/pcscd"
                + (hasProgram ? "; or start pcscd in it: sudo pcscd" : "")
            remedy = diagnosis.machine == .container ? handIn : diagnosis.access
        case .noSystemd(let hasSocket):
            seen += hasSocket ? "" : ": it is not running"
            remedy = "start it: sudo pcscd; where systemd starts services: sudo systemctl enable --now pcscd.socket"
        case .masked(let units):
            let masked = units.joined(separator: " ")
            seen += ": \(masked) is masked, so nothing can start it"
            remedy = "sudo systemctl unmask \(masked) && sudo systemctl enable --now pcscd.socket"
        case .noUnit:
            seen += ": systemd has no unit pcscd.socket"
            remedy = "sudo apt install --reinstall pcscd, then: sudo systemctl enable --now pcscd.socket"
        case .silent(let socket):
            seen += ": its socket \(socket) exists, but nothing answers on it"
            remedy =
                "sudo systemctl restart pcscd.socket pcscd.service\n"
                + "to start it at boot: sudo systemctl enable --now pcscd.socket"
        case .stopped(let isDisabled):
            seen += isDisabled ? ": it is stopped, and not started at boot" : ": it is stopped"
        case .unresponsive:
            self = Self(
                "the smart card service is running, but does not answer in time",
                "sudo systemctl restart pcscd.socket pcscd.service", exit: .noDevice)
        case .hiddenProcesses:
            seen += "; /proc is mounted with hidepid, so polkit cannot identify the caller"
            remedy =
                "sudo mount -o remount,hidepid=0 /proc, or with gid= of a group that polkitd is in"
                + (remedy.map { "\n\($0)" } ?? "")
        }
    }

    /// A reader of the service, and its card.
    init(_ finding: ReaderFinding) {
        switch finding {
        case .unlisted(let port, let hasDriver):
            self.init(
                "the smart card service works, but does not see the card reader in port \(port)"
                    + (hasDriver == false ? ": its driver libccid is missing" : ""),
                hasDriver == false
                    ? "sudo apt install libccid && sudo systemctl restart pcscd"
                    : "sudo systemctl restart pcscd, then plug it in again\n"
                        + "an older libccid does not know newer keys; ykit works without it: --link usb",
                exit: .noDevice)
        case .empty(let name):
            self.init(
                "no card is in '\(name.printable)'", "put the card or key on the reader, and leave it there",
                exit: .noDevice)
        case .mute(let name):
            self.init(
                "the card in '\(name.printable)' does not respond to power-on",
                "remove it and put it back, the other way round if it is a card")
        case .exclusive(let name, let clients):
            self.init(
                "a program has exclusive use of the card in '\(name.printable)'"
                    + (clients.isEmpty ? "" : "; connected to pcscd: \(clients.words)"),
                clients.first.map(Self.release) ?? "only root can see which one: sudo ykit doctor", exit: .busy)
        case .card(let reader, let clients):
            let kind = reader.contactless.map { ", \($0)" } ?? ""
            let atr = reader.atr.isEmpty ? "" : " (ATR \(Hex.encode(reader.atr))\(kind))"
            let users = reader.isInUse ? ", in use" + (clients.isEmpty ? "" : " by \(clients.words)") : ""
            self.init("'\(reader.name.printable)' has a card\(atr)\(users)")
        }
    }
}
