// SPDX-License-Identifier: Apache-2.0

import Testing
import YKHardware
import YKManagement
import YKTransport

@testable import ykit

/// What the doctor concludes from what it sees.
struct DoctorTests {
    private func key(_ product: UInt16 = 0x0407, port: String = "1-2", kinds: [UInt8] = [3, 3, 0x0B]) -> USBPresence {
        USBPresence(
            port: port, vendor: 0x1050, product: product, name: "Yubico YubiKey",
            interfaces: kinds.map { .init(kind: $0) })
    }

    private func problem(_ findings: Findings) -> Rung? {
        Ladder(findings: findings).rungs.first { $0.verdict == .bad }
    }

    private func names(_ findings: Findings) -> [String] { Ladder(findings: findings).rungs.map(\.name) }

    private func reader(_ hasCard: Bool) -> ReaderStatus { ReaderStatus(name: "Yubico", hasCard: hasCard) }

    @Test("nothing plugged in")
    func nothing() {
        let rung = problem(Findings())
        #expect(rung?.name == "usb" && rung?.exit == .noDevice && rung?.remedy?.contains("lsusb") == true)
        var blind = Findings()
        blind.usb = nil
        #expect(names(blind).first == "usb" && Ladder(findings: blind).rungs.first?.verdict == .note)
    }

    @Test("the smart card service is stopped, missing, or refused by polkit")
    func service() {
        for (error, exit, command): (LinkError, ykit.ExitStatus, String) in [
            (.serviceNotRunning, .noDevice, "systemctl"), (.serviceNotInstalled, .noDevice, "apt install pcscd"),
            (.accessDenied(.service), .permission, "polkit.addRule"), (.serviceMismatch, .failed, "reinstall"),
            (.accessDenied(.socket(path: "/run/x")), .permission, "systemctl restart"),
        ] {
            var findings = Findings()
            findings.usb = [key()]
            findings.readers = .failure(error)
            let rung = problem(findings)
            #expect(rung?.name == "pcscd" && rung?.exit == exit && rung?.remedy?.contains(command) == true)
            findings.usb = [key(0x0402, kinds: [3])]
            findings.devices = []
        }
    }

    @Test("a reader that does not show up, one that is empty, and one with a card")
    func readers() {
        var findings = Findings()
        findings.usb = [key()]
        #expect(problem(findings)?.name == "reader")
        findings.usb = []
        findings.readers = .success([reader(false)])
        #expect(problem(findings)?.name == "card" && problem(findings)?.exit == .noDevice)
        findings.readers = .success([reader(true)])
        #expect(problem(findings) == nil)
    }

    @Test("two keys, and one with interfaces switched off")
    func several() {
        var findings = Findings()
        findings.usb = [key(), key(0x0402, port: "1-3", kinds: [3])]
        findings.readers = .success([reader(true)])
        #expect(names(findings).contains("several") && names(findings).contains("interfaces"))
        #expect(problem(findings) == nil)
    }

    @Test("where this runs is told", arguments: [MachineKind.container, .wsl, .flatpak, .snap])
    func machine(_ kind: MachineKind) {
        var findings = Findings()
        findings.machine = kind
        #expect(names(findings).first == "machine")
        #expect(Ladder(findings: findings).rungs.first?.remedy?.isEmpty == false)
    }

    @Test("what a key says: switched off applications, flaws, failures")
    func firmware() {
        var info = DeviceInfo(version: Version(5, 4, 3), usb: [.otp, .fido2, .oath])
        info.usb.enabled = [.fido2]
        let identity = DeviceIdentity(
            maker: .yubico, product: "YubiKey 5 NFC", firmware: "5.4.3", serial: "12345678", info: info)
        var findings = Findings()
        findings.keys = [("virtual", .success(identity))]
        let rungs = Ladder(findings: findings).rungs
        #expect(rungs.map(\.name) == ["applications", "switched-off", "firmware", "firmware"])
        #expect(rungs.contains { $0.lines.contains { $0.contains("EUCLEAK") } })
        findings.keys = [("virtual", .failure(.card(.link(.removed))))]
        #expect(problem(findings)?.exit == .removed)
    }

    @Test("a report does not tell who wrote it")
    func masking() {
        var findings = Findings()
        let identity = DeviceIdentity(maker: .yubico, product: "YubiKey", serial: "12345678")
        findings.keys = [("x", .success(identity))]
        let masking = Masking(findings, user: "alice", home: "/home/alice")
        #expect(masking.mask("alice: /home/alice/x serial 12345678") == "‹user›: ‹home›/x serial ‹serial›")
    }

    @Test("the surroundings are known by their marks")
    func marks() {
        #expect(MachineKind.find(root: "/nowhere", variable: { $0 == "container" ? "podman" : nil }) == .container)
        #expect(MachineKind.find(root: "/nowhere", variable: { $0 == "SNAP" ? "/snap" : nil }) == .snap)
        #expect(MachineKind.find(root: "/nowhere", variable: { _ in nil }) == .plain)
        #expect(USBPresence.all(system: "/nowhere") == nil)
        #expect(NodeFacts("/dev/null")?.permissions == "crw-rw-rw-")
        #expect(NodeFacts("/nowhere") == nil)
    }
}
