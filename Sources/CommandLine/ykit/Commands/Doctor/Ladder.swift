// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKManagement
import YKTransport

/// The steps from the USB port to the firmware, derived from findings.
struct Ladder {
    let findings: Findings

    /// All steps, in order of dependency.
    var rungs: [Rung] {
        guard findings.keys.first?.way != .virtual else { return applications }
        return machine + clock + bus + nodes + service + cards + applications
    }

    // MARK: the machine

    private var machine: [Rung] {
        guard let words = machineWords else { return [] }
        return [Rung("machine", .note, words.seen, remedy: words.remedy)]
    }

    /// Whether one-time codes and approvals, which depend on the time, have the right one.
    private var clock: [Rung] {
        switch findings.isClockKept {
        case nil: []
        case true?: [Rung("clock", .good, "a time service keeps the clock right")]
        case false?:
            [
                Rung(
                    "clock", .note,
                    "no time service keeps the clock right: one-time codes and approvals fail if it is a minute off",
                    remedy: "sudo timedatectl set-ntp true")
            ]
        }
    }

    /// Why keys are inaccessible in this environment, and how to grant access; `nil` on a plain machine.
    var machineWords: (seen: String, remedy: String)? {
        let name = findings.application
        return switch findings.machine {
        case .plain: nil
        case .container:
            (
                "this runs in a container, which sees only what it was given",
                "start it with: --device /dev/hidraw0 --device /dev/bus/usb -v /run/pcscd:/run/pcscd"
            )
        case .wsl:
            (
                "this is WSL, where a USB key stays with Windows until it is handed over",
                "in Windows: usbipd bind --busid BUSID && usbipd attach --wsl --busid BUSID"
            )
        case .flatpak:
            (
                "this runs in a Flatpak sandbox, which sees only what it was given",
                "flatpak override --user --device=all --socket=pcsc \(name ?? "APPLICATION")"
            )
        case .snap:
            (
                "this runs in a snap, which sees only what it was given",
                "sudo snap connect \(name ?? "NAME"):u2f-devices && sudo snap connect \(name ?? "NAME"):pcscd"
            )
        }
    }

    // MARK: the bus

    /// The attached devices and their interfaces.
    private var bus: [Rung] {
        let keys = findings.usbKeys
        guard keys.isEmpty else {
            return keys.map(present) + keys.flatMap(interfaces) + keys.flatMap(drivers) + several
        }
        guard findings.devices.isEmpty else { return several }
        if case .success(let readers) = findings.readers, !readers.isEmpty {
            return [Rung("usb", .note, "no key is on the USB; a card may be in a reader")] + several
        }
        guard findings.usb != nil else {
            return [
                Rung(
                    "usb", .bad, "the kernel shows no USB here, and no key is at another bus",
                    remedy: machineWords?.remedy ?? "sudo modprobe usbcore, or look at the machine that has the port",
                    exit: .noDevice)
            ]
        }
        return [
            Rung(
                "usb", .bad, "no security key is on the USB",
                remedy: machineWords?.remedy ?? "insert it, try another port and no hub; then look: lsusb",
                exit: .noDevice)
        ]
    }

    private func present(_ key: USBPresence) -> Rung {
        let name = name(of: key)
        guard key.isAuthorized else {
            return Rung(
                "usb", .bad, "\(name) is in port \(key.port), but the kernel was told not to use it",
                remedy: """
                    USBGuard, or a rule like it, does that: sudo usbguard list-devices --blocked
                    then: sudo usbguard allow-device NUMBER, with -p for good
                    """, exit: .permission)
        }
        let kinds = Set(key.interfaces.map { $0.isHID ? "HID" : $0.isReader ? "smart card" : "other" })
        let what = kinds.isEmpty ? "without any interface" : "with \(kinds.sorted().joined(separator: " and "))"
        return Rung("usb", .good, "\(name) is in port \(key.port), \(what)")
    }

    func name(of key: USBPresence) -> String {
        DeviceIdentity(vendor: key.vendor, product: key.product, name: key.name).product.printable
    }

    /// Disabled interfaces of a Yubico key.
    private func interfaces(_ key: USBPresence) -> [Rung] {
        guard let product = USBProduct(vendor: key.vendor, product: key.product), product.family == .fourAndFive,
            product.interfaces != [.otp, .fido, .ccid]
        else { return [] }
        return [
            Rung(
                "interfaces", .note, "the key in port \(key.port) shows only \(product.interfaces)",
                remedy: "for a Security Key that is all there is; on others, if it is not meant: "
                    + "ykit config usb --enable-all")
        ]
    }

    /// Interfaces without a kernel driver, or with the wrong one.
    private func drivers(_ key: USBPresence) -> [Rung] {
        key.interfaces.compactMap { interface in
            if interface.isHID { return missingNode(interface, key) }
            guard interface.isReader, let driver = interface.driver, driver != "usbfs" else { return nil }
            return Rung(
                "driver", .bad,
                "the kernel's driver \(driver) has the card reader in port \(key.port), so pcscd cannot use it",
                remedy: """
                    keep it away: echo 'blacklist \(driver)' | sudo tee /etc/modprobe.d/ykit-\(driver).conf
                    then: sudo modprobe -r \(driver), and plug the reader in again
                    """, exit: .busy)
        }
    }

    /// Explains why a HID interface has no hidraw node.
    private func missingNode(_ interface: USBPresence.Interface, _ key: USBPresence) -> Rung? {
        let place = "interface \(interface.name) of \(name(of: key))"
        switch (interface.driver, interface.hid) {
        case (nil, _):
            return Rung(
                "driver", .bad, "no driver of the kernel has \(place), so there is no hidraw node for it",
                remedy: """
                    sudo modprobe usbhid && sudo modprobe hid-generic
                    if that does not help: echo \(interface.name) | sudo tee /sys/bus/usb/drivers/usbhid/bind
                    """, exit: .noDevice)
        case ("usbfs", _):
            return Rung(
                "driver", .bad, "a program has taken \(place) away from the kernel, as virtual machines do",
                remedy: "end that program, or hand the key back in it; then plug the key in again", exit: .busy)
        case (_, let hid?) where hid.driver == nil:
            return Rung(
                "driver", .bad, "no HID driver has \(place), so there is no hidraw node for it",
                remedy: """
                    sudo modprobe hid-generic
                    if that does not help: echo \(hid.name) | sudo tee /sys/bus/hid/drivers/hid-generic/bind
                    """, exit: .noDevice)
        case (_, let hid?) where hid.node == nil:
            return Rung(
                "driver", .bad, "the kernel made no hidraw node for \(place)",
                remedy: "it was built without CONFIG_HIDRAW: start the distribution's own kernel", exit: .noDevice)
        default: return nil
        }
    }

    /// Notes that several keys are attached, so that one must be selected.
    private var several: [Rung] {
        let onUSB = Set(findings.usbKeys.map(\.port))
        let other = findings.devices.filter { device in !(device.usbPath.map(onUSB.contains) ?? false) && device.isFIDO
        }
        let taken = Set(findings.slots.values.compactMap(\.reader))
        var cards: [ReaderStatus] = []
        if case .success(let readers) = findings.readers {
            cards = readers.filter { $0.hasCard && !taken.contains($0.name) }
        }
        let count = findings.usbKeys.count + other.count + cards.count
        guard count > 1 else { return [] }
        return [
            Rung(
                "several", .note, "there are \(count) keys, so each command has to say which one is meant",
                remedy: "--device SERIAL, --reader NAME or --path PATH; ykit list shows them")
        ]
    }
}
