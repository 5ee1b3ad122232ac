// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import YKHardware
import YKKeys

extension Diagnosis {
    /// The findings in words.
    var checks: [Check] { findings.map { Check($0, self) } }

    /// Why keys are inaccessible in this environment; `nil` on a plain machine.
    fileprivate var environment: String? {
        switch machine {
        case .plain: nil
        case .container: "this runs in a container, which sees only what it was given"
        case .wsl: "this is WSL, where a USB key stays with Windows until it is attached to WSL"
        case .flatpak: "this runs in a Flatpak sandbox, which sees only what it was given"
        case .snap: "this runs in a snap, which sees only what it was given"
        }
    }

    /// How to grant access to keys in this environment; `nil` on a plain machine.
    var access: String? {
        switch machine {
        case .plain: nil
        case .container: "start it with: --device /dev/hidraw0 --device /dev/bus/usb -v /run/pcscd:/run/pcscd"
        case .wsl: "in Windows: usbipd bind --busid BUSID && usbipd attach --wsl --busid BUSID"
        case .flatpak: "flatpak override --user --device=all --socket=pcsc \(application ?? "APPLICATION")"
        case .snap:
            "sudo snap connect \(application ?? "NAME"):u2f-devices && sudo snap connect \(application ?? "NAME"):pcscd"
        }
    }
}

extension Check {
    /// Describes a finding, and what to do about it.
    init(_ finding: Finding, _ diagnosis: Diagnosis) {
        let words =
            switch finding.cause {
            case .environment: Words(diagnosis.environment ?? "", diagnosis.access)
            case .clock(true): Words("a time service keeps the clock accurate")
            case .clock(false):
                Words(
                    "no time service keeps the clock accurate: one-time codes and approvals fail if it is a minute off",
                    "sudo timedatectl set-ntp true")
            case .bus(let finding): Words(finding, diagnosis)
            case .node(let path, let finding): Words(path, finding, diagnosis)
            case .service(let finding): Words(finding, diagnosis)
            case .reader(let finding): Words(finding)
            case .key(let finding): Words(finding)
            }
        self.init(
            finding.step.rawValue, Verdict(finding.severity), words.seen, remedy: words.remedy, exit: words.exit)
    }

    /// What was seen, what to do, and the exit status.
    struct Words {
        var seen: String
        var remedy: String?
        var exit: ExitStatus

        init(_ seen: String, _ remedy: String? = nil, exit: ExitStatus = .failed) {
            self.seen = seen
            self.remedy = remedy
            self.exit = exit
        }

        init(_ why: Explanation) { self.init(why.message, why.hint, exit: why.exit) }
    }
}

extension Check.Verdict {
    fileprivate init(_ severity: Finding.Severity) {
        switch severity {
        case .good: self = .good
        case .note: self = .note
        case .problem: self = .bad
        }
    }
}

extension Check.Words {
    fileprivate init(_ finding: BusFinding, _ diagnosis: Diagnosis) {
        switch finding {
        case .onlyReaders: self.init("no key is attached by USB; a card may be in a reader")
        case .noUSB:
            self.init(
                "the kernel shows no USB here, and no key is attached in another way",
                diagnosis.access ?? "sudo modprobe usbcore, or look at the machine that has the port", exit: .noDevice)
        case .noKey:
            self.init(
                "no security key is attached by USB",
                diagnosis.access ?? "insert it, or try another port without a hub; then look: lsusb", exit: .noDevice)
        case .several(let count):
            self.init(
                "\(count) keys are attached, so each command must select one",
                "--device SERIAL, --reader NAME or --path PATH; ykit list shows them")
        case .attached(let key, let kinds):
            let what =
                kinds.isEmpty
                ? "without any interface" : "with \(kinds.map(\.rawValue).joined(separator: " and "))"
            self.init("\(key.name.printable) is in port \(key.port), \(what)")
        case .unauthorized(let key):
            self.init(
                "\(key.name.printable) is in port \(key.port), but the kernel is configured not to use it",
                """
                USBGuard or a similar tool does that: sudo usbguard list-devices --blocked
                then: sudo usbguard allow-device NUMBER, with -p permanently
                """, exit: .permission)
        case .fewInterfaces(let key, let interfaces):
            self.init(
                "the key in port \(key.port) shows only \(interfaces)",
                "that is all a Security Key has; on other keys, if it is not intended: "
                    + "ykit config usb --enable-all")
        case .readerTaken(let key, let driver):
            self.init(
                "the kernel's driver \(driver) has claimed the card reader in port \(key.port), so pcscd cannot use it",
                """
                block it: echo 'blacklist \(driver)' | sudo tee /etc/modprobe.d/ykit-\(driver).conf
                then: sudo modprobe -r \(driver), and plug the reader in again
                """, exit: .busy)
        case .noNode(let key, let interface, let obstacle):
            self.init("interface \(interface) of \(key.name.printable)", interface, obstacle)
        }
    }

    /// Explains why a HID interface has no hidraw node.
    private init(_ place: String, _ interface: String, _ obstacle: HIDObstacle) {
        switch obstacle {
        case .noDriver:
            self.init(
                "no kernel driver is bound to \(place), so there is no hidraw node for it",
                """
                sudo modprobe usbhid && sudo modprobe hid-generic
                if that does not help: echo \(interface) | sudo tee /sys/bus/usb/drivers/usbhid/bind
                """, exit: .noDevice)
        case .taken:
            self.init(
                "a program has detached \(place) from the kernel, as virtual machines do",
                "end that program, or release the key in it; then plug the key in again", exit: .busy)
        case .noHIDDriver(let device):
            self.init(
                "no HID driver is bound to \(place), so there is no hidraw node for it",
                """
                sudo modprobe hid-generic
                if that does not help: echo \(device) | sudo tee /sys/bus/hid/drivers/hid-generic/bind
                """, exit: .noDevice)
        case .noHIDRaw:
            self.init(
                "the kernel created no hidraw node for \(place)",
                "it was built without CONFIG_HIDRAW: boot the distribution's own kernel", exit: .noDevice)
        }
    }
}
