// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKTransport
import YKWire

/// The smart card service, its readers, and the cards in them.
extension Ladder {
    /// Whether any attached key has a smart card interface.
    private var wantsCard: Bool { findings.usbKeys.contains { $0.interfaces.contains(where: \.isReader) } }

    /// Whether all USB card readers can be used without the service.
    private var canDoWithout: Bool {
        findings.hasUSBLibrary && !findings.slots.isEmpty
            && findings.slots.values.allSatisfy { $0.access == .readable && $0.holders.isEmpty }
    }

    var service: [Rung] {
        switch findings.readers {
        case .failure(let error):
            var rung = trouble(error)
            let isNeeded = wantsCard || findings.devices.isEmpty
            if !isNeeded {
                rung.verdict = .note
                rung.seen += "; no key here needs it"
                return [rung]
            }
            if canDoWithout {
                if error == .serviceNotInstalled { rung.verdict = .note }
                rung.seen += "; ykit uses the key without it, most other programs do not"
            }
            return [rung] + withoutService
        case .success:
            let version = [
                findings.serviceVersion.map { " \($0)" } ?? "",
                findings.service.protocolVersion.map { " (protocol \($0))" } ?? "",
            ].joined()
            return [Rung("pcscd", .good, "the smart card service works: pcscd\(version)")]
        }
    }

    /// Explains why the service is unusable, as precisely as the machine allows.
    private func trouble(_ error: LinkError) -> Rung {
        var rung = Rung("pcscd", Explain.link(error))
        let facts = findings.service
        switch error {
        case .serviceNotInstalled, .serviceNotRunning:
            if findings.machine != .plain, findings.machine != .wsl, !facts.hasSocket {
                rung.seen = "the smart card service of the machine is not handed in here: no \(facts.path)"
                rung.remedy = findings.machine == .container ? handIn : machineWords?.remedy
            } else if error == .serviceNotRunning {
                explainStopped(&rung, facts)
            }
        case .timedOut:
            rung = Rung(
                "pcscd", .bad, "the smart card service is there, but does not answer in time",
                remedy: "sudo systemctl restart pcscd.socket pcscd.service", exit: .noDevice)
        case .accessDenied where facts.hidesProcesses:
            rung.seen += "; /proc is mounted with hidepid, so polkit cannot see who asks"
            rung.remedy =
                "sudo mount -o remount,hidepid=0 /proc, or with gid= of a group that polkitd is in"
                + (rung.remedy.map { "\n\($0)" } ?? "")
        default: break
        }
        return rung
    }

    private var handIn: String {
        "start the container with: -v /run/pcscd:/run/pcscd"
            + (findings.service.program == nil ? "" : "; or start pcscd in it: sudo pcscd")
    }

    private func explainStopped(_ rung: inout Rung, _ facts: ServiceFacts) {
        if !facts.hasSystemd {
            rung.seen += facts.hasSocket ? "" : ": it is not running"
            rung.remedy =
                "start it: sudo pcscd; where systemd starts services: sudo systemctl enable --now pcscd.socket"
        } else if facts.socket == .masked || facts.service == .masked {
            let units = [(facts.socket, "pcscd.socket"), (facts.service, "pcscd.service")]
            let masked = units.filter { $0.0 == .masked }.map(\.1).joined(separator: " ")
            rung.seen += ": \(masked) is masked, so nothing may start it"
            rung.remedy = "sudo systemctl unmask \(masked) && sudo systemctl enable --now pcscd.socket"
        } else if facts.socket == .missing {
            rung.seen += ": systemd has no unit pcscd.socket"
            rung.remedy = "sudo apt install --reinstall pcscd, then: sudo systemctl enable --now pcscd.socket"
        } else if facts.hasSocket {
            rung.seen += ": its socket \(facts.path) is there, but nobody answers at it"
            rung.remedy =
                "sudo systemctl restart pcscd.socket pcscd.service\n"
                + "to start it with the machine: sudo systemctl enable --now pcscd.socket"
        } else {
            rung.seen +=
                facts.socket == .disabled ? ": it is stopped, and not started with the machine" : ": it is stopped"
        }
    }

    /// The nodes that ykit uses without the service.
    private var withoutService: [Rung] {
        guard findings.hasUSBLibrary || findings.slots.isEmpty else {
            return [Rung("libusb", Explain.link(.usbLibraryNotInstalled))]
        }
        return findings.slots.values.sorted { $0.node < $1.node }.compactMap { slot in
            switch slot.access {
            case .readable where slot.holders.isEmpty:
                Rung("permission", .good, "\(slot.node) for the smart card may be opened")
            case .readable: holder(slot)
            case .denied: denied(slot.node, "the smart card without pcscd")
            case .missing:
                Rung(
                    "node", .note, "there is no \(slot.node) here for the smart card without pcscd",
                    remedy: machineWords?.remedy)
            }
        }
    }

    private func holder(_ slot: Findings.Slot) -> Rung? {
        guard let first = slot.holders.first else { return nil }
        return Rung(
            "holder", .bad, "the smart card at \(slot.node) is held by \(slot.holders.words)", remedy: release(first),
            exit: .busy)
    }

    /// How to make a holder release a card and, if known, how to keep it from taking it again.
    private func release(_ holder: LinkError.Holder) -> String {
        holder.name == "scdaemon" ? Explain.releaseBySCDaemon : Explain.release(holder)
    }

    // MARK: readers and cards

    var cards: [Rung] {
        guard case .success(let readers) = findings.readers else { return [] }
        let isAlone = findings.devices.isEmpty && !readers.contains(where: \.hasCard)
        return unseen + readers.map { card($0, isAlone) }
    }

    /// USB card readers that the service does not list.
    private var unseen: [Rung] {
        findings.slots.sorted { $0.key < $1.key }.compactMap { port, slot in
            guard slot.reader == nil else { return nil }
            if let holder = slot.holders.first, holder.name != "pcscd" { return self.holder(slot) }
            let package = "sudo apt install libccid && sudo systemctl restart pcscd"
            return Rung(
                "reader", .bad,
                "the smart card service works, but does not see the card reader in port \(port)"
                    + (findings.service.hasDriver == false ? ": its driver libccid is missing" : ""),
                remedy: findings.service.hasDriver == false
                    ? package
                    : "sudo systemctl restart pcscd, then plug it in again\n"
                        + "an older libccid does not know newer keys; ykit does without: --link usb",
                exit: .noDevice)
        }
    }

    /// Reports an empty reader, which is a problem only if nothing else is attached.
    private func card(_ reader: ReaderStatus, _ isAlone: Bool) -> Rung {
        let name = "'\(reader.name.printable)'"
        guard reader.hasCard else {
            return Rung(
                "card", isAlone ? .bad : .note, "no card is in \(name)",
                remedy: "put the card or key on the reader, and leave it there", exit: .noDevice)
        }
        let atr = reader.atr.isEmpty ? "" : " (ATR \(Hex.encode(reader.atr))\(Self.kind(reader.atr)))"
        if reader.isMute {
            return Rung(
                "card", .bad, "the card in \(name) does not answer to power",
                remedy: "take it out and put it in again, the other way round if it is a card", exit: .failed)
        }
        if reader.isExclusive {
            let holders = findings.clients
            return Rung(
                "holder", .bad,
                "a program has the card in \(name) for itself"
                    + (holders.isEmpty ? "" : "; connected to pcscd: \(holders.words)"),
                remedy: holders.first.map(release) ?? "who it is only root is told: sudo ykit doctor",
                exit: .busy)
        }
        let users = reader.isInUse ? ", in use" + (findings.clients.isEmpty ? "" : " by \(findings.clients.words)") : ""
        return Rung("card", .good, "\(name) has a card\(atr)\(users)")
    }

    private static func kind(_ bytes: [UInt8]) -> String {
        (try? ATR(decoding: bytes))?.contactless.map { ", \($0)" } ?? ""
    }
}
