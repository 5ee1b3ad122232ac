// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCapture
import YKFIDO
import YKManagement
import YKOATH
import YKOTP
import YKPIV
import YKProtocols
import YKSecureChannel
import YKSecurityDomain
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKHardware
@testable import YKKeys

/// Finding a key and opening its applications, as a program does.
@Suite struct KeyTests {
    private let machine = FakeMachine()

    private func keys(_ selection: KeySelection = KeySelection(), timeout: Duration = .seconds(600)) -> KeyRing {
        KeyRing(selection, environment: ServiceEnvironment(timeout: timeout), hardware: machine)
    }

    @Test func oneKeyOverAllItsInterfaces() async throws {
        let device = VirtualKey.demonstration()
        machine.plug(device, into: "1-2", fido: "/dev/hidraw0", keyboard: "/dev/hidraw1")
        let key = try await keys(KeySelection(serial: "16777217")).only()
        #expect(key.serial == "16777217" && key.version == "5.7.1" && key.name.contains("YubiKey"))
        let oath = try await key.open(OATHService.self)
        try await expect(oath.codes().count, is: 7)
        await oath.rest()
        let fido = try await key.open(FIDOService.self)
        await expect(fido.profile.carrier, is: .hid)
        let otp = try await key.open(OTPService.self)
        await expect(otp.carrier, is: .hid)
        let piv = try await key.open(PIVService.self, timeout: .seconds(9))
        try await expect(piv.tries(of: .pin)?.triesLeft, is: 3)
        await piv.rest()
        let management = try await key.open(ManagementService.self)
        await expect(management.version, is: FirmwareVersion(5, 7, 1))
        await management.rest()
        try await expect(key.identity().serial, is: "16777217")
        let card = try await key.over(.usb).open(FIDOService.self)
        await expect(card.profile.carrier, is: .card)
        await card.rest()
        try await expect(key.over(.usb).open(CardService.self).select(.oath).isEmpty, is: false)
        let domain = try await key.open(SecurityDomainService.self)
        #expect(try await !domain.keys().isEmpty)
        await domain.rest()
    }

    @Test("applications that require a secure channel on a contactless reader are opened through one")
    func requiredChannel() throws {
        for (model, formFactor) in [(DeviceModel.yubiKey5FIPS, UInt8(0x81)), (.yubiKey, 1)] {
            var profile = DeviceProfile(
                version: FirmwareVersion(5, 7, 4), serial: 7, formFactor: formFactor, transport: .nfc)
            profile.model = model
            let isFIPS = model == .yubiKey5FIPS
            let asked = Mutex(0)
            var keys = KeyRing(source: .virtual(VirtualKey(try .new(profile))))
            let refused = try keys.channel()
            _ = try refused.select(.oath)
            try expect(refused.transmit(APDU(ins: 0xA1)).status, is: (isFIPS ? .conditionsNotSatisfied : .ok))
            refused.close()
            keys.requiredChannelTrust = {
                asked.withLock { $0 += 1 }
                return .unverified
            }
            let channel = try keys.channel()
            for (aid, isProtected) in [
                (AID.management, false), (.oath, isFIPS), (.piv, isFIPS), (.otp, false), (.oath, isFIPS),
            ] {
                _ = try channel.select(aid)
                expect((channel.secureChannel?.isOpen ?? false), is: isProtected)
            }
            try expect(channel.transmit(APDU(ins: 0xA1)).status, is: .ok)
            expect(asked.withLock { $0 }, is: (isFIPS ? 1 : 0))
            channel.close()
            keys.decoration.plan = ExchangePlan()
            #expect(try keys.channel().secureChannel == nil)
        }
    }

    @Test("the selected key is looked for when it is used, by no more than that, and on the service's own thread")
    func selectedKey() async throws {
        let key = keys().selected
        #expect(key.attached == nil && key.place.isEmpty && "\(key)" == "the only key")
        await #expect(throws: KeyError.self) { try await key.open(PIVService.self) }
        machine.plug(try FakeMachine.key(7), into: "1-2")
        let channel = try await key.channel()
        let runtime = try #require(channel.runtime)
        let piv = try await PIVService.open(channel)
        #expect(piv.runtime === runtime && machine.opened == ["1-2"])
        try await expect(piv.serial(), is: 7)
        await piv.close()
        try await expect(key.found().attached?.key.place, is: .usb("1-2"))
        machine.plug(try FakeMachine.key(8), into: "1-3")
        for selection in [KeySelection(serial: "8"), KeySelection(path: "1-3")] {
            let eight = keys(selection).selected
            try await expect(eight.open(PIVService.self).serial(), is: 8)
            #expect("\(eight)" == selection.description && eight.serial == selection.serial)
        }
        expect(keys(KeySelection(reader: "ACS")).selected.place, is: "ACS")
    }

    @Test("of several keys one is chosen for all that is opened afterwards")
    func chosenKey() async throws {
        machine.plug(try FakeMachine.key(7), into: "1-2")
        machine.lay(try FakeMachine.key(8), on: "Reader")
        let key = keys().selected
        let error = await #expect(throws: KeyError.self) { try await key.found() }
        guard case .several(_, let candidates)? = error else { throw error ?? .cardRequired }
        key.choose(try #require(candidates.first { $0.serial == "8" }))
        try await expect(key.found().attached?.reader, is: "Reader")
        try await expect(key.open(PIVService.self).serial(), is: 8)
    }

    @Test func severalKeysAndOne() async throws {
        await #expect(throws: KeyError.none(.any, .complete)) { try await keys().only() }
        machine.plug(try FakeMachine.key(7), into: "1-2")
        machine.lay(nil, on: "Empty")
        try await expect(keys().only().attached?.key.place, is: .usb("1-2"))
        machine.lay(try FakeMachine.key(8), on: "Reader")
        try await expect(keys().all().map(\.serial), is: ["7", "8"])
        try await expect(keys(KeySelection(serial: "8")).all().map(\.serial), is: ["8"])
        let eight = try await keys(KeySelection(serial: "8")).only()
        try await expect(eight.open(PIVService.self).serial(), is: 8)
        try await expect(keys(KeySelection(reader: "read")).only().serial, is: nil, "the only one is not asked")
        try await expect(keys(KeySelection(path: "1-2")).only().attached?.key.place, is: .usb("1-2"))
        try await expect(keys(KeySelection(transport: .pcsc)).only().attached?.reader, is: "Reader")
        try await expect(keys(KeySelection(transport: .usb)).only().attached?.key.place, is: .usb("1-2"))
        await #expect(throws: KeyError.none(.any, .complete)) {
            try await keys(KeySelection(transport: .hid)).only()
        }
        await #expect(throws: KeyError.link(.unknownReader("x"))) {
            try await keys(KeySelection(reader: "x")).only()
        }
        await #expect(throws: KeyError.link(.noDevice(path: "9-9"))) {
            try await keys(KeySelection(path: "9-9")).only()
        }
        do {
            _ = try await keys().only()
            Issue.record("one of two was chosen")
        } catch {
            guard case .several(.any, let candidates) = error else { throw error }
            #expect(candidates.map(\.serial) == ["7", "8"] && candidates.allSatisfy(\.isAccessible))
        }
    }

    @Test func theSameKeyInAPortAndOnAReaderIsOne() async throws {
        let device = try FakeMachine.key(7)
        machine.plug(device, into: "1-2", fido: "/dev/hidraw0")
        machine.lay(device, on: "Contactless")
        let all = try await keys().all()
        #expect(all.count == 1 && all.first?.attached?.contactless.map(\.name) == ["Contactless"])
    }

    @Test func whatTheServiceKeepsFromTheList() throws {
        machine.change { $0.serviceTrouble = .serviceMismatch }
        #expect(throws: KeyError.link(.serviceMismatch)) { try keys().attached(asking: true) }
        machine.plug(try FakeMachine.key(7), into: "1-2", card: false, fido: "/dev/hidraw0")
        try expect(keys().attached(asking: true).serviceTrouble, is: .serviceMismatch)
        machine.plug(try FakeMachine.key(8), into: "1-3", address: 5)
        try expect(keys().attached(asking: true).serviceTrouble, is: nil)
        machine.change { $0.serviceTrouble = .serviceNotRunning }
        try expect(keys().attached(asking: false).serviceTrouble, is: nil)
    }

    @Test func aKeyThatIsHeldByAnotherProgram() async throws {
        machine.lay(try FakeMachine.key(7), on: "A")
        let key = try await keys().only()
        machine.change { $0.held = ["A"] }
        let busy = LinkError.busy(reader: "A", holders: [.init(pid: 7, name: "scdaemon")])
        await #expect(throws: KeyError.link(busy)) { try await key.open(OATHService.self) }
        #expect(KeyError.link(busy).link == busy && KeyError.fido(.device(busy)).link == busy)
        expect(KeyError.differentKey.link, is: nil)
    }

    @Test func waitingForAKey() async throws {
        let device = try FakeMachine.key(7)
        await #expect(throws: KeyError.link(.timedOut("waiting for a key"))) {
            try await keys(timeout: .milliseconds(200)).inserted()
        }
        let plugged: @Sendable (inout FakeMachine.Parts) -> Void = { parts in
            parts.usb = [FakeMachine.usb("1-2", card: true, address: 4, vendor: 0x1050, serial: nil, .readable)]
            parts.keys["1-2"] = device
        }
        machine.afterwards([{ _ in }, { _ in }, plugged])
        try await expect(keys(timeout: .seconds(600)).inserted().attached?.key.place, is: .usb("1-2"))
        var events: [KeyEvent] = []
        for await event in keys().watch() { events.append(event) }
        guard events.count == 2, case .arrived(let key) = events[0], case .enumerated = events[1] else {
            Issue.record("\(events)")
            return
        }
        expect(key.attached?.key.place, is: .usb("1-2"))
    }

    // MARK: touch

    @Test func theKeyThatIsTouched() async throws {
        machine.plug(try FakeMachine.key(7, touch: .pending), into: "1-2", fido: "/dev/hidraw0")
        machine.plug(try FakeMachine.key(8), into: "1-3", fido: "/dev/hidraw1", address: 5)
        let count = Mutex(0)
        let key = try await keys(timeout: .seconds(600)).touched { number in count.withLock { $0 = number } }
        #expect(key.attached?.key.place == .usb("1-3") && count.withLock { $0 } == 2)
    }

    @Test func aTouchOnTheOnlyKey() async throws {
        machine.plug(try FakeMachine.key(7), into: "1-2", fido: "/dev/hidraw0")
        try await expect(keys().touched().attached?.key.place, is: .usb("1-2"))
        try expect(keys().touchPlace(), is: "/dev/hidraw0")
        let cards = FakeMachine()
        cards.lay(try FakeMachine.key(7), on: "A")
        await #expect(throws: KeyError.touchRequiresHID) { try await KeyRing(hardware: cards).touched() }
    }

    @Test func nobodyTouches() async throws {
        machine.plug(try FakeMachine.key(7, touch: .pending), into: "1-2", fido: "/dev/hidraw0")
        machine.plug(try FakeMachine.key(8, touch: .pending), into: "1-3", fido: "/dev/hidraw1", address: 5)
        await #expect(throws: FIDOError.touchTimeout) { try await keys(timeout: .milliseconds(300)).touched() }
        let cancelled = keys(timeout: .seconds(60))
        let asked = Signal()
        let wait = Task { try await cancelled.touched { _ in asked.send() } }
        await asked.wait()
        cancelled.environment.cancellation.cancel()
        await #expect(throws: (any Error).self) { try await wait.value }
        let other = keys(timeout: .seconds(60))
        let askedAgain = Signal()
        let task = Task { try await other.touched { _ in askedAgain.send() } }
        await askedAgain.wait()
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
    }
}
