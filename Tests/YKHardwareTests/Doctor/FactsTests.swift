// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKTestSupport

@testable import YKHardware

/// What the doctor reads of a machine, on machines that are folders.
struct FactsTests {
    /// A folder with files in it, by their paths; an arrow makes a link.
    private func machine(_ files: [String: String]) throws -> String {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("ykit-\(UUID().uuidString)").path
        for (path, text) in files {
            let whole = "\(root)/\(path)"
            try FileManager.default.createDirectory(
                atPath: String(whole.prefix(upTo: whole.lastIndex(of: "/") ?? whole.startIndex)),
                withIntermediateDirectories: true)
            if text.hasPrefix("-> ") {
                try FileManager.default.createSymbolicLink(
                    atPath: whole, withDestinationPath: String(text.dropFirst(3)))
            } else {
                try text.write(toFile: whole, atomically: false, encoding: .utf8)
            }
        }
        return root
    }

    @Test("an access list names who may open a node; the mask counts")
    func accessList() throws {
        func entry(_ tag: UInt8, _ permissions: UInt8, _ number: UInt8 = 0xFF) -> [UInt8] {
            [tag, 0, permissions, 0, number, 0, 0, 0]
        }
        let head: [UInt8] = [2, 0, 0, 0]
        let bytes =
            head + entry(1, 6) + entry(2, 6, 7) + entry(2, 4, 8) + entry(4, 6) + entry(8, 6, 9)
            + entry(0x40, 6) + entry(0x10, 6) + entry(0x20, 0)
        let list = try AccessList(decoding: bytes)
        #expect(list.users == [7] && list.entries.count == 7)
        #expect(list.entries.contains(.init(.namedGroup(9), 6)) && list.entries.last?.subject == .others)
        let masked = try AccessList(decoding: head + entry(2, 6, 7) + entry(0x10, 4))
        #expect(masked.users.isEmpty)
        #expect(throws: (any Error).self) { try AccessList(decoding: [1, 0, 0, 0]) }
        #expect(throws: (any Error).self) { try AccessList(decoding: bytes.dropLast(3).map { $0 }) }
        #expect(AccessList(of: "/dev/null") == nil && AccessList(of: "/nowhere") == nil)
    }

    @Test("the session is found by its control group, the user's services by the user's screen")
    func login() throws {
        let session = "# private\nUID=1000\nACTIVE=1\nREMOTE=0\nSEAT=seat0\n"
        let files = [
            "run/systemd/seats/seat0": "ACTIVE=2\nACTIVE_UID=0\n", "run/systemd/sessions/2": session,
            "run/systemd/sessions/5": "UID=1000\nACTIVE=1\nREMOTE=1\n", "run/systemd/users/1000": "DISPLAY=2\n",
        ]
        func find(_ group: String, _ variable: String? = nil) throws -> LoginFacts {
            .find(root: try machine(files.merging(["proc/self/cgroup": group]) { $1 }), variable: { _ in variable })
        }
        let own = try find("0::/user.slice/user-1000.slice/session-2.scope\n")
        #expect(
            own
                == LoginFacts(
                    isThere: true, session: .init(id: "2", seat: "seat0", isActive: true), activeUser: "root"))
        let app = try find("0::/user.slice/user-1000.slice/user@1000.service/app.slice/term.scope\n")
        expect(app.session?.id, is: "2")
        let remote = try find("0::/user.slice/user-1000.slice/session-5.scope\n").session
        #expect(remote?.isRemote == true && remote?.seat == nil)
        try expect(find("0::/system.slice/cron.service\n").session, is: nil)
        try expect(find("0::/\n", "5").session?.id, is: "5")
        try expect(find("0::/\n", "../2").session, is: nil)
        expect(LoginFacts.find(root: "/nowhere"), is: LoginFacts())
    }

    @Test("how systemd stands to pcscd")
    func units() throws {
        let unit = "lib/systemd/system/pcscd.socket"
        expect(ServiceFacts.unit("pcscd.socket", try machine([unit: "[Socket]\n"])), is: .disabled)
        expect(ServiceFacts.unit("pcscd.socket", "/nowhere"), is: .missing)
        let masked = try machine([unit: "[Socket]\n", "etc/systemd/system/pcscd.socket": "-> /dev/null"])
        expect(ServiceFacts.unit("pcscd.socket", masked), is: .masked)
        let enabled = try machine([
            unit: "[Socket]\n", "etc/systemd/system/sockets.target.wants/pcscd.socket": "-> /lib/nowhere",
        ])
        expect(ServiceFacts.unit("pcscd.socket", enabled), is: .enabled)
        expect(ServiceFacts.unit("pcscd.socket", try machine(["run/systemd/system/pcscd.socket": ""])), is: .masked)
        let facts = ServiceFacts.find(root: enabled, socket: "/nowhere")
        #expect(facts.socket == .enabled && !facts.hasSocket && facts.protocolVersion == nil && !facts.hidesProcesses)
    }

    @Test("a /proc that hides processes")
    func hidden() {
        #expect(ServiceFacts.hidesProcesses("proc /proc proc rw,nosuid,hidepid=invisible 0 0\n"))
        #expect(ServiceFacts.hidesProcesses("proc /proc proc rw,hidepid=2 0 0\n"))
        #expect(!ServiceFacts.hidesProcesses("proc /proc proc rw,hidepid=0 0 0\nx /y proc hidepid=2 0 0\n"))
    }

    @Test("a USB device, its drivers and nodes")
    func presence() throws {
        let devices = "bus/usb/devices"
        let root = try machine([
            "\(devices)/usb1/idVendor": "1d6b\n", "\(devices)/1-2/idVendor": "1050\n",
            "\(devices)/1-2/idProduct": "0407\n", "\(devices)/1-2/product": "YubiKey\n",
            "\(devices)/1-2/authorized": "1\n", "\(devices)/1-2/serial": "0815\n",
            "\(devices)/1-2:1.0/bInterfaceClass": "03\n", "\(devices)/1-2:1.0/driver": "-> ../../drivers/usbhid",
            "\(devices)/1-2:1.0/0003:1050:0407.0001/driver": "-> ../../../drivers/hid-generic",
            "\(devices)/1-2:1.0/0003:1050:0407.0001/hidraw/hidraw4/dev": "1\n",
            "\(devices)/1-2:1.1/bInterfaceClass": "0b\n", "\(devices)/1-3/idVendor": "1050\n",
            "\(devices)/1-3/idProduct": "0402\n", "\(devices)/1-3/authorized": "0\n",
        ])
        let found = try #require(USBPresence.all(system: root))
        #expect(found.map(\.port) == ["1-2", "1-3"] && found.map(\.isAuthorized) == [true, false])
        #expect(found[0].serial == "0815" && found[0].interfaces.map(\.isReader) == [false, true])
        #expect(found[0].interfaces[0].driver == "usbhid" && found[0].interfaces[1].driver == nil)
        expect(
            found[0].interfaces[0].hid, is: .init(name: "0003:1050:0407.0001", driver: "hid-generic", node: "hidraw4"))
    }

    @Test("surroundings leave marks")
    func surroundings() throws {
        let none: (String) -> String? = { _ in nil }
        expect(MachineKind.find(root: try machine(["run/systemd/container": "lxc\n"]), variable: none), is: .container)
        expect(MachineKind.find(root: try machine(["run/.containerenv": ""]), variable: none), is: .container)
        expect(MachineKind.find(root: "/nowhere") { $0 == "KUBERNETES_SERVICE_HOST" ? "x" : nil }, is: .container)
        let wsl = try machine(["proc/sys/kernel/osrelease": "5.15.90.1-microsoft-standard-WSL2\n"])
        expect(MachineKind.find(root: wsl, variable: none), is: .wsl)
        let flatpak = try machine([".flatpak-info": "[Application]\nname=org.example.Key\n"])
        expect(MachineKind.find(root: flatpak, variable: none), is: .flatpak)
        expect(MachineKind.application(root: flatpak, variable: none), is: "org.example.Key")
    }

    @Test("a snap is what the program is part of or confined by, not what its terminal is part of")
    func snaps() throws {
        let variables: (String) -> String? = { ["SNAP": "/snap/key/150", "SNAP_NAME": "key"][$0] }
        let terminal = try machine([
            "proc/self/exe": "-> /usr/bin/ykit", "proc/self/attr/current": "snap.key.key (complain)\n",
        ])
        let other = try machine(["proc/self/exe": "-> /snap/key/1500/bin/ykit"])
        for root in [terminal, other] {
            expect(MachineKind.find(root: root, variable: variables), is: .plain)
            expect(MachineKind.application(root: root, variable: variables), is: nil)
        }
        let inside = try machine(["proc/self/exe": "-> /snap/key/150/bin/ykit"])
        let confined = try machine(["proc/self/attr/current": "snap.key.key (enforce)\n"])
        for root in [inside, confined] {
            expect(MachineKind.find(root: root, variable: variables), is: .snap)
            expect(MachineKind.application(root: root, variable: variables), is: "key")
        }
    }

    @Test("what a report says of the system")
    func system() throws {
        let root = try machine([
            "proc/sys/kernel/osrelease": "6.1.0-9\n", "etc/os-release": "ID=debian\nPRETTY_NAME=\"Debian 12\"\n",
            "etc/udev/rules.d/70-ykit.rules": "", "usr/lib/udev/rules.d/60-block.rules": "",
        ])
        let facts = SystemFacts.find(root: root)
        #expect(facts.kernel == "Linux 6.1.0-9" && facts.distribution == "Debian 12")
        expect(facts.rules, is: ["/etc/udev/rules.d/70-ykit.rules"])
    }

    @Test("users and groups")
    func accounts() {
        #expect(Accounts.user(0) == "root" && Accounts.user(4_000_000_000) == "4000000000")
        #expect(Accounts.group(0) == "root" && Accounts.group(4_000_000_000) == "4000000000")
        #expect(!Accounts.isMember(of: "no-such-group") && !Accounts.isRunning(as: "no-such-group"))
    }
}
