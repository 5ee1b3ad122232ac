// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKManagement
import YKTransport

/// The steps from the USB port to the firmware, concluded from findings.
struct Ladder {
    let findings: Findings

    /// All steps, in the order in which they have to be well.
    var rungs: [Rung] {
        guard findings.keys.first?.place != "virtual" else { return firmware }
        return machine + bus + nodes + service + firmware
    }

    private var machine: [Rung] {
        switch findings.machine {
        case .plain: []
        case .container:
            [
                Rung(
                    "machine", .note, "this runs in a container, which sees only what it was given",
                    remedy: "start it with --device /dev/hidraw0 --device /dev/bus/usb and -v /run/pcscd:/run/pcscd")
            ]
        case .wsl:
            [
                Rung(
                    "machine", .note, "this is WSL: a USB key stays with Windows until it is handed over",
                    remedy: "in Windows: usbipd bind --busid BUSID && usbipd attach --wsl --busid BUSID")
            ]
        case .flatpak:
            [
                Rung(
                    "machine", .note, "this runs in a Flatpak sandbox",
                    remedy: "flatpak override --user --device=all --socket=pcsc APPLICATION")
            ]
        case .snap:
            [
                Rung(
                    "machine", .note, "this runs in a snap",
                    remedy: "sudo snap connect NAME:u2f-devices && sudo snap connect NAME:pcscd")
            ]
        }
    }

    /// What is plugged in, and with which interfaces.
    private var bus: [Rung] {
        guard findings.usb != nil else { return [Rung("usb", .note, "the kernel shows no USB here")] }
        let keys = findings.usbKeys
        if keys.isEmpty, findings.devices.isEmpty {
            if case .success(let readers) = findings.readers, !readers.isEmpty {
                return [Rung("usb", .note, "no key is on the USB; a card may be in a reader")]
            }
            return [
                Rung(
                    "usb", .bad, "no security key is on the USB",
                    remedy: "insert it, try another port and no hub; then look: lsusb", exit: .noDevice)
            ]
        }
        return keys.map { key -> Rung in
            let identity = DeviceIdentity(vendor: key.vendor, product: key.product, name: key.name)
            let names = Set(key.interfaces.map { $0.kind == 3 ? "HID" : $0.kind == 0x0B ? "smart card" : "other" })
            return Rung(
                "usb", .good,
                "\(identity.product.printable) is in port \(key.port), with \(names.sorted().joined(separator: " and "))"
            )
        } + interfaces(keys)
    }

    /// Interfaces that a Yubico key has switched off.
    private func interfaces(_ keys: [USBPresence]) -> [Rung] {
        keys.compactMap { key -> Rung? in
            guard let product = USBProduct(vendor: key.vendor, product: key.product), product.family == .fourAndFive,
                product.interfaces != [.otp, .fido, .ccid]
            else { return nil }
            return Rung(
                "interfaces", .note, "only \(product.interfaces) is switched on at the key in port \(key.port)",
                remedy: "if that is not meant: ykit config usb --enable-all")
        }
            + (keys.count > 1
                ? [
                    Rung(
                        "several", .note,
                        "\(keys.count) keys are plugged in, so each command has to say which one is meant",
                        remedy: "--device SERIAL; ykit list shows them")
                ] : [])
    }

    /// Whether the nodes can be opened, and who has them.
    private var nodes: [Rung] {
        findings.devices.flatMap { device -> [Rung] in
            let what = device.isFIDO ? "FIDO" : "OTP"
            let facts = findings.nodes[device.path]
            switch device.access {
            case .missing:
                return [
                    Rung(
                        "node", .bad, "the kernel has \(device.path) for \(what), but there is no such node here",
                        remedy: "in a container hand it in: --device \(device.path)", exit: .permission)
                ]
            case .denied:
                var rung = Rung("permission", Explain.device(device.path, findings.rule(device.path)))
                if let facts {
                    rung.seen +=
                        " (\(facts.permissions), owner \(facts.owner), group \(facts.group)"
                        + (facts.hasList ? ", with an access list)" : ")")
                }
                return [rung]
            case .readable:
                let holders = (facts?.holders ?? []).map { "\($0.name.printable) (pid \($0.pid))" }
                let open = Rung("permission", .good, "\(device.path) for \(what) may be opened")
                guard !holders.isEmpty else { return [open] }
                return [
                    open,
                    Rung(
                        "holder", .note, "\(device.path) is open in \(holders.joined(separator: ", "))",
                        remedy: "if a command says that the key is busy, end that program first"),
                ]
            }
        }
    }

    /// Whether the smart card service works, and what is in its readers.
    private var service: [Rung] {
        let wantsCard = findings.usbKeys.contains { $0.interfaces.contains { $0.kind == 0x0B } }
        switch findings.readers {
        case .failure(let error):
            let why = Explain.link(error)
            guard wantsCard || findings.devices.isEmpty else {
                return [Rung("pcscd", .note, "\(why.message); no key here needs it")]
            }
            return [Rung("pcscd", why)]
        case .success(let readers) where readers.isEmpty:
            guard wantsCard else { return [Rung("pcscd", .good, "the smart card service works")] }
            return [
                Rung(
                    "reader", .bad, "the smart card service works, but does not see the key's smart card interface",
                    remedy: "sudo apt install libccid && sudo systemctl restart pcscd", exit: .noDevice)
            ]
        case .success(let readers):
            return [Rung("pcscd", .good, "the smart card service works")]
                + readers.map { reader in
                    reader.hasCard
                        ? Rung(
                            "card", .good, "'\(reader.name.printable)' has a card" + (reader.isInUse ? ", in use" : ""))
                        : Rung(
                            "card", findings.devices.isEmpty ? .bad : .note, "'\(reader.name.printable)' is empty",
                            remedy: "put the card or key on the reader", exit: .noDevice)
                }
        }
    }

    /// What the keys say of themselves: what is switched off, and what is known of their firmware.
    private var firmware: [Rung] {
        findings.keys.flatMap { key -> [Rung] in
            switch key.identity {
            case .failure(let error):
                return [Rung("applications", Explain.management(error))]
            case .success(let identity):
                let version = identity.firmware.map { " with firmware \($0.printable)" } ?? ""
                let answers = Rung("applications", .good, "\(identity.product.printable)\(version) answers")
                guard let info = identity.info else { return [answers] }
                return [answers] + switchedOff(info) + KnownFlaw.of(info).map(Self.flaw)
            }
        }
    }

    private func switchedOff(_ info: DeviceInfo) -> [Rung] {
        let off = info.usb.supported.subtracting(info.usb.enabled)
        guard !off.names.isEmpty else { return [] }
        return [
            Rung(
                "switched-off", .note, "switched off over USB: \(off.sentence)",
                remedy: "if you need one of them: ykit config usb --enable NAME")
        ]
    }

    private static func flaw(_ flaw: KnownFlaw) -> Rung {
        Rung("firmware", .note, "\(flaw.name) (\(flaw.reference)): \(flaw.summary)", remedy: flaw.advice)
    }
}
