// SPDX-License-Identifier: Apache-2.0

import Testing
import YKKeys
import YKManagement
import YKTestSupport
import YKTransport

@testable import DeviceVerbs
@testable import TerminalIO
@testable import Verbs
@testable import YKHardware

/// What the doctor concludes from what it sees.
struct DoctorTests {
    static func key(_ product: UInt16 = 0x0407, port: String = "1-2", kinds: [UInt8] = [3, 3, 0x0B]) -> USBPresence {
        USBPresence(
            port: port, vendor: 0x1050, product: product, name: "Yubico YubiKey", isAuthorized: true,
            interfaces: kinds.map { $0 == 3 ? interface(kind: 3, driver: "usbhid", hid: hid()) : interface(kind: $0) })
    }

    private static func interface(
        kind: UInt8, driver: String? = nil, hid: USBPresence.HID? = nil
    ) -> USBPresence.Interface {
        USBPresence.Interface(name: "1-2:1.0", kind: kind, driver: driver, hid: hid)
    }

    private static func hid(driver: String? = "hid-generic", node: String? = "hidraw0") -> USBPresence.HID {
        USBPresence.HID(name: "0003:1050:0407.0001", driver: driver, node: node)
    }

    static func slot(
        _ access: HIDDevice.Access = .readable, _ holders: [String] = [], reader: String? = nil
    ) -> MachineFacts.Slot {
        MachineFacts.Slot(
            node: "/dev/bus/usb/001/002", access: access, holders: holders.map { .init(pid: 7, name: $0) },
            reader: reader)
    }

    private func problem(_ findings: MachineFacts) -> Check? {
        Diagnosis(findings).checks.first { $0.verdict == .bad }
    }

    private func names(_ findings: MachineFacts) -> [String] { Diagnosis(findings).checks.map(\.name) }

    private func reader(_ hasCard: Bool) -> ReaderStatus { ReaderStatus(name: "Yubico", hasCard: hasCard) }

    @Test("nothing plugged in")
    func nothing() {
        let check = problem(MachineFacts())
        #expect(check?.name == "usb" && check?.exit == .noDevice && check?.remedy?.contains("lsusb") == true)
        var blind = MachineFacts()
        blind.usb = nil
        #expect(problem(blind)?.name == "usb" && problem(blind)?.exit == .noDevice)
        blind.machine = .wsl
        expect(problem(blind)?.remedy?.contains("usbipd"), is: true)
    }

    @Test("a clock that nothing keeps right is a note")
    func clock() {
        var findings = MachineFacts()
        #expect(!names(findings).contains("clock"))
        findings.isClockKept = true
        let kept = Diagnosis(findings).checks.first { $0.name == "clock" }
        #expect(kept?.verdict == .good && kept?.remedy == nil)
        findings.isClockKept = false
        let left = Diagnosis(findings).checks.first { $0.name == "clock" }
        #expect(left?.verdict == .note && left?.remedy == "sudo timedatectl set-ntp true")
        expect(problem(findings)?.name, is: "usb")
    }

    @Test("the smart card service is stopped, missing, or refused by polkit")
    func service() {
        for (error, exit, command): (LinkError, TerminalIO.ExitStatus, String) in [
            (.serviceNotRunning, .noDevice, "systemctl"), (.serviceNotInstalled, .noDevice, "apt install pcscd"),
            (.accessDenied(.service), .permission, "polkit.addRule"), (.serviceMismatch, .failed, "reinstall"),
            (.accessDenied(.socket(path: "/run/x")), .permission, "systemctl restart"),
        ] {
            var findings = MachineFacts()
            findings.usb = [Self.key()]
            findings.readers = .failure(error)
            let check = problem(findings)
            #expect(check?.name == "pcscd" && check?.exit == exit && check?.remedy?.contains(command) == true)
        }
    }

    @Test("why the service is stopped, and how it is started")
    func stopped() {
        func told(_ change: (inout ServiceFacts) -> Void) -> Check? {
            var findings = MachineFacts()
            findings.usb = [Self.key()]
            findings.readers = .failure(.serviceNotRunning)
            findings.service.hasSocket = false
            change(&findings.service)
            return problem(findings)
        }
        expect(told { $0.socket = .masked }?.remedy?.contains("unmask pcscd.socket &&"), is: true)
        expect(told { $0.service = .masked }?.seen.contains("pcscd.service is masked"), is: true)
        expect(told { $0.socket = .missing }?.remedy?.contains("--reinstall pcscd"), is: true)
        expect(told { $0.hasSocket = true }?.seen.contains("nothing answers"), is: true)
        expect(told { $0.socket = .disabled }?.seen.contains("not started at boot"), is: true)
        expect(told { $0.hasSystemd = false }?.remedy?.contains("sudo pcscd"), is: true)
        expect(told { _ in }?.remedy?.contains("enable --now pcscd.socket"), is: true)
    }

    @Test("in a container the service has to be handed in; hidden processes keep polkit from knowing who asks")
    func handedIn() {
        var findings = MachineFacts()
        findings.usb = [Self.key()]
        findings.machine = .container
        findings.service.hasSocket = false
        findings.readers = .failure(.serviceNotInstalled)
        expect(problem(findings)?.remedy?.contains("-v /run/pcscd:/run/pcscd"), is: true)
        findings.machine = .plain
        findings.readers = .failure(.accessDenied(.service))
        findings.service.hidesProcesses = true
        expect(problem(findings)?.seen.contains("hidepid"), is: true)
    }

    @Test("a key that needs no service, and one that ykit uses without it")
    func withoutService() {
        var findings = MachineFacts()
        findings.usb = [Self.key()]
        findings.readers = .failure(.serviceNotInstalled)
        findings.slots = ["1-2": Self.slot()]
        expect(problem(findings), is: nil)
        findings.readers = .failure(.serviceNotRunning)
        expect(problem(findings)?.seen.contains("ykit uses the key without it"), is: true)
        findings.hasUSBLibrary = false
        expect(names(findings).suffix(2), is: ["pcscd", "libusb"])
        expect(problem(findings)?.seen.contains("ykit uses the key without it"), is: false)
        expect(Diagnosis(findings).checks.last?.remedy?.contains("libusb-1.0-0"), is: true)
        findings.hasUSBLibrary = true
        findings.readers = .failure(.serviceNotInstalled)
        findings.slots = ["1-2": Self.slot(.denied)]
        findings.nodes = ["/dev/bus/usb/001/002": NodeFacts(listed: ["bob"])]
        findings.rule = { _ in .missing }
        expect(names(findings).suffix(2), is: ["pcscd", "permission"])
        findings.slots = ["1-2": Self.slot(.readable, ["scdaemon"])]
        let last = Diagnosis(findings).checks.last
        #expect(last?.name == "holder" && last?.remedy?.contains("disable-ccid") == true && last?.exit == .busy)
        findings.slots = ["1-2": Self.slot(.missing)]
        expect(Diagnosis(findings).checks.last?.name, is: "node")
    }

    @Test("a reader that does not show up, one that is empty, mute or taken, and one with a card")
    func readers() {
        var findings = MachineFacts()
        findings.usb = [Self.key()]
        findings.slots = ["1-2": Self.slot()]
        expect(problem(findings)?.name, is: "reader")
        findings.service.hasDriver = false
        expect(problem(findings)?.remedy?.contains("apt install libccid"), is: true)
        findings.slots = ["1-2": Self.slot(.readable, ["scdaemon"])]
        expect(problem(findings)?.name, is: "holder")
        findings.slots = [:]
        findings.usb = []
        findings.readers = .success([reader(false)])
        #expect(problem(findings)?.name == "card" && problem(findings)?.exit == .noDevice)
        findings.readers = .success([ReaderStatus(name: "Yubico", hasCard: true, isMute: true)])
        expect(problem(findings)?.seen.contains("does not respond to power"), is: true)
        findings.readers = .success([ReaderStatus(name: "Yubico", hasCard: true, isInUse: true, isExclusive: true)])
        findings.clients = [.init(pid: 9, name: "scdaemon")]
        #expect(problem(findings)?.name == "holder" && problem(findings)?.exit == .busy)
        for line in ["gpgconf --kill all", "disable-ccid", "pcsc-shared", "disable-application piv"] {
            expect(problem(findings)?.remedy?.contains(line), is: true, "\(line)")
        }
        findings.readers = .success([reader(true), reader(false)])
        #expect(problem(findings) == nil && names(findings).contains("card"))
    }

    @Test("two keys, and one with interfaces switched off")
    func several() {
        var findings = MachineFacts()
        findings.usb = [Self.key(), Self.key(0x0402, port: "1-3", kinds: [3])]
        findings.readers = .success([reader(true)])
        findings.slots = ["1-2": Self.slot(reader: "Yubico")]
        #expect(names(findings).contains("several") && names(findings).contains("interfaces"))
        expect(problem(findings), is: nil)
        findings.usb = [Self.key()]
        #expect(!names(findings).contains("several"))
        findings.slots = [:]
        #expect(names(findings).contains("several"))
    }

    @Test("drivers of the kernel that are missing, or in the way")
    func drivers() {
        func problemOfKey(kind: UInt8, driver: String? = nil, hid: USBPresence.HID? = nil) -> Check? {
            var findings = MachineFacts()
            var key = Self.key(kinds: [])
            key.interfaces = [Self.interface(kind: kind, driver: driver, hid: hid)]
            findings.usb = [key]
            return problem(findings)
        }
        expect(problemOfKey(kind: 3)?.remedy?.contains("modprobe usbhid"), is: true)
        let unbound = problemOfKey(kind: 3, driver: "usbhid", hid: Self.hid(driver: nil))
        expect(unbound?.remedy?.contains("hid-generic"), is: true)
        let withoutNode = problemOfKey(kind: 3, driver: "usbhid", hid: Self.hid(node: nil))
        expect(withoutNode?.remedy?.contains("CONFIG_HIDRAW"), is: true)
        expect(problemOfKey(kind: 3, driver: "usbfs")?.exit, is: .busy)
        let taken = problemOfKey(kind: 0x0B, driver: "pn533_usb")
        expect(taken?.remedy?.contains("blacklist pn533_usb"), is: true)
        expect(problemOfKey(kind: 0x0B, driver: "usbfs"), is: nil)
        var findings = MachineFacts()
        findings.usb = [Self.key(kinds: [])]
        findings.usb?[0].isAuthorized = false
        #expect(problem(findings)?.remedy?.contains("usbguard") == true && problem(findings)?.exit == .permission)
    }

    @Test("where this runs is told", arguments: [MachineKind.container, .wsl, .flatpak, .snap])
    func machine(_ kind: MachineKind) {
        var findings = MachineFacts()
        findings.machine = kind
        expect(names(findings).first, is: "machine")
        expect(Diagnosis(findings).checks.first?.remedy?.isEmpty, is: false)
    }

    @Test("a node that the rule gives to somebody else: what this session has to do with it")
    func seats() {
        var findings = MachineFacts()
        findings.rule = { _ in .applied }
        findings.nodes = ["/dev/hidraw0": NodeFacts(group: "plugdev", listed: ["bob"])]
        func told(_ login: LoginFacts) -> String {
            findings.login = login
            return Check(findings.denied("/dev/hidraw0", .fido), Diagnosis(findings)).remedy ?? ""
        }
        #expect(told(LoginFacts()).contains("no logind"))
        #expect(told(LoginFacts(isThere: true)).contains("not a login session"))
        #expect(told(LoginFacts(isThere: true, session: .init(id: "1", isRemote: true))).contains("session is remote"))
        let other = LoginFacts(isThere: true, session: .init(id: "1", seat: "seat0"), activeUser: "bob")
        #expect(told(other).contains("shows bob"))
        let own = LoginFacts(isThere: true, session: .init(id: "1", seat: "seat0", isActive: true))
        #expect(told(own).contains("plugged in again"))
        #expect(
            Check(findings.denied("/dev/hidraw0", .fido), Diagnosis(findings)).seen.contains("bob by its access list"))
    }

    private func told(_ identity: DeviceIdentity, _ way: KeyFinding.Access = .virtual) -> AskedKey {
        AskedKey("virtual", way, .success(identity))
    }

    @Test("what a key says: switched off applications, flaws, failures")
    func firmware() {
        var info = DeviceInfo(version: FirmwareVersion(5, 4, 3), usb: [.otp, .fido2, .oath])
        info.usb.enabled = [.fido2]
        let identity = DeviceIdentity(
            maker: .yubico, product: "YubiKey 5 NFC", firmware: "5.4.3", serial: "12345678", info: info)
        var findings = MachineFacts()
        findings.keys = [told(identity)]
        let checks = Diagnosis(findings).checks
        expect(checks.map(\.name), is: ["applications", "switched-off", "firmware", "firmware"])
        #expect(checks.contains { $0.lines.contains { $0.contains("EUCLEAK") } })
        for (error, name, exit): (LinkError, String, TerminalIO.ExitStatus) in [
            (.removed, "unplugged", .removed), (.noDevice(path: "/dev/hidraw0"), "unplugged", .noDevice),
            (.busy(reader: "x", holders: []), "holder", .busy), (.accessDenied(.service), "permission", .permission),
            (.unresponsive("x"), "applications", .failed),
        ] {
            findings.keys = [AskedKey("virtual", .virtual, .failure(.link(error)))]
            #expect(problem(findings)?.name == name && problem(findings)?.exit == exit)
        }
    }

    @Test("a key that answers over two interfaces is told of once; an application that is on and mute is a problem")
    func once() {
        var info = DeviceInfo(version: FirmwareVersion(5, 7, 4), usb: [.otp, .fido2, .oath])
        info.nfc = .init(supported: [.oath], enabled: [])
        let identity = DeviceIdentity(maker: .yubico, product: "YubiKey", firmware: "5.7.4", info: info)
        var findings = MachineFacts()
        findings.usb = [Self.key()]
        findings.slots = ["1-2": Self.slot(reader: "Yubico")]
        findings.readers = .success([reader(true)])
        var card = AskedKey("Yubico", .card, .success(identity))
        card.applications = [(.otp, true), (.fido2, false), (.oath, true)]
        findings.keys = [card, AskedKey("/dev/hidraw0", .fido, .success(identity))]
        let checks = Diagnosis(findings).checks
        expect(checks.count { $0.seen.contains("answers over the smart card and over FIDO") }, is: 1)
        #expect(checks.contains { $0.seen.contains("applications of the card that answer: Yubico OTP, OATH") })
        #expect(checks.contains { $0.name == "switched-off" && $0.seen.contains("NFC: OATH") })
        findings.keys[0].applications[2].isThere = false
        #expect(problem(findings)?.name == "applications" && problem(findings)?.seen.contains("OATH") == true)
        findings.keys = [told(DeviceIdentity(maker: .unknown, product: "Smart card"), .card)]
        findings.keys[0].applications = [(.oath, false)]
        expect(problem(findings), is: nil)
    }

    @Test("the flaw of the reset code concerns who has tries for it")
    func resetCode() {
        let info = DeviceInfo(version: FirmwareVersion(5, 2, 4), usb: [.openPGP])
        var key = told(DeviceIdentity(maker: .yubico, product: "YubiKey", firmware: "5.2.4", info: info))
        func check(_ tries: Int?) -> Check? {
            key.resetCodeTries = tries
            var findings = MachineFacts()
            findings.keys = [key]
            return Diagnosis(findings).checks.first { $0.seen.contains("YSA-2020-05") }
        }
        #expect(check(0)?.verdict == .good && check(0)?.seen.contains("does not affect") == true)
        #expect(check(3)?.verdict == .note && check(3)?.remedy?.contains("set a reset code") == true)
        expect(check(nil)?.verdict, is: .note)
    }

    @Test("the flaw of a NEO's OpenPGP concerns who has it before 1.0.10")
    func openPGPPIN() {
        let info = DeviceInfo(version: FirmwareVersion(3, 3, 0), usb: [.openPGP])
        var key = told(DeviceIdentity(maker: .yubico, product: "YubiKey NEO", firmware: "3.3.0", info: info))
        func check(_ version: FirmwareVersion?) -> Check? {
            key.openPGPVersion = version
            var findings = MachineFacts()
            findings.keys = [key]
            return Diagnosis(findings).checks.first { $0.seen.contains("YSA-2015-1") }
        }
        expect(check(FirmwareVersion(1, 0, 10))?.verdict, is: .good)
        expect(check(FirmwareVersion(1, 0, 9))?.seen.contains("its OpenPGP is 1.0.9"), is: true)
        expect(check(nil)?.remedy?.contains("ykit doctor"), is: true)
    }

    @Test("a report does not tell who wrote it")
    func masking() {
        var findings = MachineFacts()
        findings.keys = [told(DeviceIdentity(maker: .yubico, product: "YubiKey", serial: "12345678"))]
        findings.nodes = ["/dev/hidraw0": NodeFacts(listed: ["bob", "root"])]
        findings.usb = [Self.key()]
        findings.usb?[0].serial = "0011223344"
        let masking = ReportMask(findings, user: "alice", home: "/home/alice")
        expect(masking.mask("alice: /home/alice/x serial 12345678"), is: "‹user›: ‹home›/x serial ‹serial›")
        expect(masking.mask("root, bob, 0011223344"), is: "root, ‹user›, ‹serial›")
        let report = DoctorReport(
            facts: findings, checks: Diagnosis(findings).checks,
            system: SystemFacts.find(root: "/nowhere"))
        let lines = report.lines(masking)
        #expect(lines.contains { $0.hasPrefix("usb 1-2: 1050:0407 Yubico YubiKey: 03 usbhid (hid-generic, hidraw0)") })
        #expect(lines.contains { $0.hasPrefix("node /dev/hidraw0: crw------- root:root") })
        #expect(!lines.contains { $0.contains("12345678") })
    }

    @Test(
        "what lets a key go",
        arguments: [
            ("scdaemon", "gpgconf"), ("firefox", "close the page"), ("gsd-smartcard", "mask"),
            ("geoclue", "sudo systemctl stop"),
            ("yubikey-agent", "--user stop"), ("qemu-system-x86", "detach"), ("ssh-sk-helper", "touch"),
            ("xyz", "end xyz"),
        ])
    func holders(_ name: String, _ words: String) {
        let busy = LinkError.busy(reader: "", holders: [LinkError.Holder(pid: 1, name: name)])
        expect(Explanation(busy).hint?.contains(words), is: true)
    }

    @Test("a node's permissions and holders are read")
    func marks() {
        expect(USBPresence.all(system: "/nowhere"), is: nil)
        #expect(NodeFacts("/dev/null")?.permissions == "crw-rw-rw-" && NodeFacts("/dev/null")?.owner == "root")
        expect(NodeFacts("/nowhere"), is: nil)
    }
}
