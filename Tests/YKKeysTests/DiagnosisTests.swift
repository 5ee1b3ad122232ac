// SPDX-License-Identifier: Apache-2.0

import Testing
import YKFIDO
import YKManagement
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKHardware
@testable import YKKeys

/// Why keys can or cannot be reached, as a program is told.
@Suite struct DiagnosisTests {
    private static func key(_ interfaces: [USBPresence.Interface], isAuthorized: Bool = true) -> USBPresence {
        USBPresence(
            port: "1-2", vendor: 0x1050, product: 0x0407, name: "Yubico YubiKey", isAuthorized: isAuthorized,
            interfaces: interfaces)
    }

    private static func interface(
        kind: UInt8, driver: String? = nil, hid: USBPresence.HID? = nil
    ) -> USBPresence.Interface {
        USBPresence.Interface(name: "1-2:1.0", kind: kind, driver: driver, hid: hid)
    }

    private static let hid = interface(
        kind: 3, driver: "usbhid", hid: .init(name: "x", driver: "hid-generic", node: "hidraw0"))
    private static let reader = interface(kind: 0x0B)
    private static let whole = key([hid, reader])
    private static let port = PortedKey(
        name: DeviceIdentity(vendor: 0x1050, product: 0x0407, name: "Yubico YubiKey").product, port: "1-2")
    private static let holder = LinkError.Holder(pid: 7, name: "scdaemon")

    private func problem(_ change: (inout MachineFacts) -> Void) -> Finding? {
        var facts = MachineFacts()
        facts.usb = [Self.whole]
        change(&facts)
        return Diagnosis(facts).problem
    }

    private func node(_ access: HIDDevice.Access) -> HIDDevice {
        FakeMachine.hid("/dev/hidraw0", .fido, "1-2", 4, 0x1050, nil, access)
    }

    @Test("the bus: nothing attached, a key that the kernel may not use, drivers in the way")
    func bus() {
        expect(Diagnosis(MachineFacts()).problem, is: Finding(.usb, .problem, .bus(.noKey)))
        expect(problem { $0.usb = nil }, is: Finding(.usb, .problem, .bus(.noUSB)))
        let blocked = problem { $0.usb = [Self.key([], isAuthorized: false)] }
        expect(blocked, is: Finding(.usb, .problem, .bus(.unauthorized(Self.port))))
        let taken = problem { $0.usb = [Self.key([Self.interface(kind: 0x0B, driver: "pn533_usb")])] }
        expect(taken, is: Finding(.driver, .problem, .bus(.readerTaken(Self.port, driver: "pn533_usb"))))
        for (interface, obstacle): (USBPresence.Interface, HIDObstacle) in [
            (Self.interface(kind: 3), .noDriver), (Self.interface(kind: 3, driver: "usbfs"), .taken),
            (Self.interface(kind: 3, driver: "usbhid", hid: .init(name: "x")), .noHIDDriver("x")),
            (
                Self.interface(kind: 3, driver: "usbhid", hid: .init(name: "x", driver: "hid-generic")),
                .noHIDRaw
            ),
        ] {
            let cause = BusFinding.noNode(Self.port, interface: "1-2:1.0", obstacle)
            expect(problem { $0.usb = [Self.key([interface])] }, is: Finding(.driver, .problem, .bus(cause)))
        }
        var facts = MachineFacts()
        facts.usb = [Self.whole]
        expect(Diagnosis(facts).problem, is: nil)
        expect(
            Diagnosis(facts).findings.first, is: Finding(.usb, .good, .bus(.attached(Self.port, [.hid, .smartCard]))))
        facts.readers = .success([ReaderStatus(name: "A", hasCard: true)])
        #expect(Diagnosis(facts).findings.contains(Finding(.several, .note, .bus(.several(2)))))
    }

    @Test("a node that may not be opened: why this session does not profit from the rule")
    func nodes() {
        let sessions: [(LoginFacts, SeatAccess)] = [
            (LoginFacts(), .noLogind), (LoginFacts(isThere: true), .noSession),
            (LoginFacts(isThere: true, session: .init(id: "1", isRemote: true)), .remote),
            (LoginFacts(isThere: true, session: .init(id: "1"), activeUser: "bob"), .inactive(user: "bob")),
            (LoginFacts(isThere: true, session: .init(id: "1", isActive: true)), .active),
        ]
        for (login, seat) in sessions {
            let found = problem { facts in
                facts.devices = [node(.denied)]
                facts.rule = { _ in .applied }
                facts.login = login
                facts.nodes = ["/dev/hidraw0": NodeFacts(group: "plugdev")]
            }
            let cause = NodeFinding.denied(.fido, .applied, NodeFacts(group: "plugdev"), seat)
            expect(found, is: Finding(.permission, .problem, .node("/dev/hidraw0", cause)))
        }
        let missing = problem { facts in
            facts.devices = [node(.denied)]
            facts.rule = { _ in .missing }
        }
        expect(missing?.cause, is: .node("/dev/hidraw0", .denied(.fido, .missing, nil, nil)))
        #expect(
            problem { $0.devices = [node(.missing)] }
                == Finding(.node, .problem, .node("/dev/hidraw0", .missing(.fido))))
        let busy = LinkError.busy(reader: "/dev/hidraw0", holders: [Self.holder])
        let held = problem { facts in
            facts.devices = [node(.readable)]
            facts.keys = [AskedKey("/dev/hidraw0", .fido, .failure(.link(busy)))]
        }
        expect(held, is: Finding(.holder, .problem, .node("/dev/hidraw0", .refused(.link(busy)))))
    }

    @Test("the smart card service: why it is unavailable, and whether anything needs it")
    func service() {
        func unavailable(_ error: LinkError, _ change: (inout MachineFacts) -> Void = { _ in }) -> Finding? {
            var facts = MachineFacts()
            facts.usb = [Self.whole]
            facts.service.hasSocket = false
            facts.readers = .failure(error)
            change(&facts)
            return Diagnosis(facts).findings.first { $0.step == .pcscd }
        }
        func cause(_ obstacle: ServiceFinding.Obstacle?, _ error: LinkError = .serviceNotRunning) -> Finding {
            Finding(.pcscd, .problem, .service(.unavailable(error, obstacle, .needed)))
        }
        expect(unavailable(.serviceNotInstalled), is: cause(nil, .serviceNotInstalled))
        expect(unavailable(.serviceNotRunning), is: cause(.stopped(isDisabled: false)))
        expect(unavailable(.serviceNotRunning) { $0.service.socket = .disabled }, is: cause(.stopped(isDisabled: true)))
        expect(unavailable(.serviceNotRunning) { $0.service.socket = .missing }, is: cause(.noUnit))
        expect(unavailable(.serviceNotRunning) { $0.service.service = .masked }, is: cause(.masked(["pcscd.service"])))
        expect(
            unavailable(.serviceNotRunning) { $0.service.hasSystemd = false }, is: cause(.noSystemd(hasSocket: false)))
        #expect(
            unavailable(.serviceNotRunning) { $0.service.hasSocket = true }
                == cause(.silent(socket: ServiceFacts().path)))
        let handedIn = ServiceFinding.Obstacle.notHandedIn(socket: ServiceFacts().path, hasProgram: true)
        expect(unavailable(.serviceNotRunning) { $0.machine = .container }, is: cause(handedIn))
        expect(unavailable(.timedOut("x")), is: cause(.unresponsive, .timedOut("x")))
        let without = unavailable(.serviceNotInstalled) {
            $0.slots = ["1-2": .init(node: "/dev/bus/usb/001/002", access: .readable)]
        }
        expect(without, is: Finding(.pcscd, .note, .service(.unavailable(.serviceNotInstalled, nil, .replaced))))
        let needless = unavailable(.serviceNotInstalled) { facts in
            facts.usb = [Self.key([Self.hid])]
            facts.devices = [node(.readable)]
        }
        expect(needless, is: Finding(.pcscd, .note, .service(.unavailable(.serviceNotInstalled, nil, .none))))
    }

    @Test("readers and cards")
    func readers() {
        func with(_ reader: ReaderStatus) -> Finding? {
            problem { facts in
                facts.readers = .success([reader])
                facts.clients = [Self.holder]
            }
        }
        expect(with(ReaderStatus(name: "A", hasCard: false)), is: Finding(.card, .problem, .reader(.empty("A"))))
        expect(with(ReaderStatus(name: "A", hasCard: true)), is: nil)
        expect(
            with(ReaderStatus(name: "A", hasCard: true, isMute: true)),
            is: Finding(.card, .problem, .reader(.mute("A"))))
        #expect(
            with(ReaderStatus(name: "A", hasCard: true, isExclusive: true))
                == Finding(.holder, .problem, .reader(.exclusive("A", [Self.holder]))))
        let unlisted = problem { facts in
            facts.slots = ["1-2": .init(node: "/dev/bus/usb/001/002", access: .readable)]
            facts.service.hasDriver = false
        }
        expect(unlisted, is: Finding(.reader, .problem, .reader(.unlisted(port: "1-2", hasDriver: false))))
    }

    @Test("a key that did not answer fails at the step of the cause")
    func failures() {
        for (failure, step): (KeyFailure, Finding.Step) in [
            (.link(.removed), .unplugged), (.management(.card(.link(.noDevice(path: "x")))), .unplugged),
            (.fido(.refused(.channelBusy)), .holder), (.link(.reset), .holder),
            (.link(.accessDenied(.service)), .permission), (.management(.endlessInfo), .applications),
            (KeyFailure(KeyError.fido(.device(.removed))), .unplugged),
            (KeyFailure(FIDOLinkError.notTouched), .applications),
        ] {
            let found = problem { $0.keys = [AskedKey("A", .card, .failure(failure))] }
            expect(found, is: Finding(step, .problem, .key(.failed(place: "A", .card, failure))))
        }
    }

    @Test("a virtual key is examined: its applications, what is switched off, its flaws")
    func virtual() async throws {
        let diagnosis = await KeyRing(source: .virtual(.demonstration())).diagnosis()
        expect(diagnosis.problem, is: nil)
        guard case .key(.answers(let identity, []))? = diagnosis.findings.first?.cause else {
            Issue.record("\(diagnosis.findings)")
            return
        }
        expect(identity.serial, is: "16777217")
        let applications = diagnosis.findings.compactMap { finding -> Capability? in
            if case .key(.applications(let found)) = finding.cause { found } else { nil }
        }
        expect(applications.first?.isSuperset(of: [.oath, .piv, .fido2]), is: true)
        let old = try VirtualKey.new(FirmwareVersion(5, 4, 3), serial: 7)
        let flaws = await KeyRing(source: .virtual(old)).diagnosis().findings.filter { $0.step == .firmware }
        #expect(!flaws.isEmpty && flaws.allSatisfy { $0.severity != .problem })
    }
}
