// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import YKCapture
import YKFIDO
import YKManagement
import YKOATH
import YKOTP
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKHardware
@testable import YKKeys

/// Keys in software, recordings, and keys that are removed and come back.
@Suite struct SourceTests {
    private let machine = FakeMachine()

    private func keys(_ selection: KeySelection = KeySelection(), timeout: Duration = .seconds(600)) -> KeyRing {
        KeyRing(selection, environment: ServiceEnvironment(timeout: timeout), hardware: machine)
    }

    private func virtual(
        _ selection: KeySelection = KeySelection(), _ decoration: LinkDecoration = LinkDecoration(), faults: String = ""
    ) throws -> KeyRing {
        KeyRing(
            selection, source: .virtual(.demonstration(), faults: try FaultPlan(parsing: faults)),
            decoration: decoration,
            hardware: machine)
    }

    // MARK: sources

    @Test func aKeyInSoftware() async throws {
        let keys = try virtual()
        let key = try await keys.only()
        #expect(key.serial == nil && key.attached?.key.reader?.hasCard == true)
        try await expect(keys.all().map(\.serial), is: ["16777217"])
        let oath = try await key.open(OATHService.self)
        try await expect(oath.accounts().count, is: 7)
        await oath.rest()
        try await expect(key.open(OTPService.self).carrier, is: .hid)
        #expect(try await key.touchedTwice(keys))
        #expect(try keys.fidoRoute() == .reports(path: nil) && keys.managementRoute() == .card)
        expect(keys.reportIdentity(at: nil).vendor, is: 0x1050)
        try expect(virtual(KeySelection(reader: "v")).otpRoute(), is: .card)
        try expect(virtual(KeySelection(transport: .hid)).managementRoute(), is: .fido(path: nil))
        try await expect(
            virtual(KeySelection(transport: .hid)).only().open(ManagementService.self).version.major, is: 5)
        try expect(virtual().touchPlace(), is: "virtual")
        try expect(virtual(KeySelection(reader: "v")).touchPlace(), is: "v")
        #expect(machine.opened.isEmpty)
    }

    @Test func aKeyInSoftwareArrives() async throws {
        var events: [KeyEvent] = []
        for await event in try virtual().watch() { events.append(event) }
        guard events.count == 2, case .arrived(let key) = events[0], case .enumerated = events[1] else {
            Issue.record("\(events)")
            return
        }
        try await expect(key.open(ManagementService.self).version.major, is: 5)
    }

    @Test func faultsOfAKeyInSoftware() async throws {
        let key = try await virtual(faults: "at 1: remove").only()
        await #expect(throws: OATHError.self) { try await key.open(OATHService.self) }
    }

    @Test func aRecordingIsPlayed() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "ykit-keys-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "session.jsonl").path
        let recorder = Recorder(path: path, clock: FixedClock(59))
        let key = try await virtual(KeySelection(), LinkDecoration(recorder: recorder)).only()
        _ = try await key.open(OATHService.self).accounts()
        let capture = try Capture(parsing: Array(Data(contentsOf: URL(filePath: path))))
        let keys = KeyRing(source: .recording(CaptureReplay(capture, mode: .lookup)), hardware: machine)
        try await expect(keys.only().open(OATHService.self).accounts().count, is: 7)
        #expect((59..<3600).contains(keys.environment.clock.now), "time goes on from when the recording began")
        #expect(try keys.fidoRoute() == .card && keys.otpRoute() == .card && keys.managementRoute() == .card)
        try expect(keys.touchPlace(), is: capture.header.reader)
        #expect(machine.opened.isEmpty)
    }

    @Test func findingAKeyByItsSerialNumberIsNotRecorded() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "ykit-keys-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "session.jsonl").path
        machine.plug(try FakeMachine.key(7), into: "1-2", fido: "/dev/hidraw0")
        let recorder = Recorder(path: path, clock: FixedClock(59))
        let found = KeyRing(
            KeySelection(serial: "7"), decoration: LinkDecoration(recorder: recorder), hardware: machine)
        let fido = try await FIDOService.open(try found.fidoLink())
        let versions = try await fido.info().versions
        await fido.close()
        let capture = try Capture(parsing: Array(Data(contentsOf: URL(filePath: path))))
        let replayed = try await FIDOService.open(
            try KeyRing(source: .recording(CaptureReplay(capture)), hardware: machine).fidoLink())
        try await expect(replayed.info().versions, is: versions)
    }

    @Test func aRecordingOfReportsIsNoCard() async throws {
        var header = Capture.Header(link: .hid)
        header.reader = "/dev/hidraw3"
        header.usb = (0x1050, 0x0407)
        let keys = KeyRing(source: .recording(CaptureReplay(Capture(header: header))), hardware: machine)
        #expect(throws: KeyError.recordedLink("hid")) { try keys.card() }
        #expect(try keys.fidoRoute() == .reports(path: nil) && keys.otpRoute() == .reports(path: nil))
        try expect(keys.managementRoute(), is: .fido(path: nil))
        #expect(keys.reportIdentity(at: nil).product == 0x0407 && keys.reportIdentity(at: nil).path == "/dev/hidraw3")
        #expect(throws: KeyError.self) { try keys.fidoLink() }
    }

    // MARK: decorations

    @Test func aPlanSendsNothingThatChangesTheKey() async throws {
        let plan = ExchangePlan()
        let keys = try virtual(KeySelection(), LinkDecoration(plan: plan))
        let key = Key(AttachedKey(SecurityKey(place: .reader("v"))), in: keys)
        let oath = try await key.open(OATHService.self)
        try await oath.delete(try await oath.accounts()[0].id)
        try await expect(oath.accounts().count, is: 7, "nothing was deleted")
        await oath.rest()
        #expect(plan.steps.contains { !$0.isSent && $0.summary.contains("DELETE") } && !plan.isStopped)
        let fido = try await key.open(FIDOService.self)
        try await fido.reset()
        expect(plan.steps.last?.isSent, is: false)
        let otp = try await key.open(OTPService.self)
        _ = try await otp.serial()
        #expect(plan.steps.last?.isSent == true && !plan.isStopped)
        await #expect(throws: OTPError.self) { try await otp.delete(.one) }
        #expect(plan.isStopped)
        let piv = try await key.open(PIVService.self)
        await #expect(throws: PIVError.self) { try await piv.generateKey(.authentication, .p256) }
    }

    @Test func aLogSeesWhatPasses() async throws {
        let lines = Mutex<[String]>([])
        let log = TrafficLog { level, line in lines.withLock { $0.append("\(level) \(line)") } }
        let keys = try virtual(KeySelection(), LinkDecoration(log: log))
        let key = try await keys.only()
        _ = try await key.open(OATHService.self)
        #expect(lines.withLock { $0 }.contains { $0.hasPrefix("debug SELECT") })
        #expect(lines.withLock { $0 }.contains { $0.hasPrefix("traffic > 00a40400") })
        _ = try await key.open(FIDOService.self)
        _ = try await key.open(OTPService.self).serial()
        #expect(lines.withLock { $0 }.contains { $0.hasSuffix("(feature)") })
        let broken = try virtual(KeySelection(), LinkDecoration(log: log), faults: "at 1: remove")
        await #expect(throws: OATHError.self) { try await broken.only().open(OATHService.self) }
        expect(lines.withLock { $0 }.last?.hasSuffix("removed"), is: true)
        _ = try keys.card(isRecorded: false)
    }

    @Test func aPromptWhileTheKeyWaits() async throws {
        let reasons = Mutex<[TouchReason]>([])
        let wanted = Mutex(0)
        let slow = try VirtualKey.new(
            serial: 7,
            inputs: VirtualInputs(touch: { _ in
                reasons.withLock { $0.count } < wanted.withLock { $0 } ? .pending : .touched
            }))
        for transport in [KeySelection.Transport.hid, .pcsc] {
            wanted.withLock { $0 += 1 }
            let keys = KeyRing(
                KeySelection(transport: transport), source: .virtual(slow),
                environment: ServiceEnvironment(timeout: .seconds(600)),
                decoration: LinkDecoration(touchPrompt: { reason in reasons.withLock { $0.append(reason) } }),
                hardware: machine)
            let service = try await FIDOService.open(try keys.fidoLink())
            try await service.select()
        }
        expect(reasons.withLock { $0 }, is: [.touch, .touch])
    }

    // MARK: removal and return

    @Test func aKeyThatIsInsertedAgain() async throws {
        let device = try FakeMachine.key(7)
        machine.plug(device, into: "1-2", fido: "/dev/hidraw0")
        let back: @Sendable (inout FakeMachine.Parts) -> Void = { parts in
            parts.usb = [FakeMachine.usb("1-2", card: true, address: 5, vendor: 0x1050, serial: nil, .readable)]
            parts.hid = [FakeMachine.hid("/dev/hidraw4", .fido, "1-2", 5, 0x1050, nil, .readable)]
            parts.keys["/dev/hidraw4"] = device
        }
        machine.afterwards([{ _ in }, { _ in }, FakeMachine.unplug("1-2"), { _ in }, back])
        try await expect(keys().reinsertedNode("/dev/hidraw0", within: .seconds(3000)) {}, is: "/dev/hidraw4")
        let other = try FakeMachine.key(8)
        let another: @Sendable (inout FakeMachine.Parts) -> Void = { parts in
            back(&parts)
            parts.hid = [FakeMachine.hid("/dev/hidraw5", .fido, "1-2", 6, 0x1050, nil, .readable)]
            parts.keys["/dev/hidraw5"] = other
        }
        machine.afterwards([{ _ in }, { _ in }, FakeMachine.unplug("1-2"), another])
        await #expect(throws: KeyError.differentKey) {
            try await keys().reinsertedNode("/dev/hidraw4", within: .seconds(3000)) {}
        }
        await #expect(throws: KeyError.link(.noDevice(path: "1-9"))) {
            try await keys().reinsertedNode("1-9", within: .seconds(3000)) {}
        }
    }

    @Test("a program gets the key that was inserted again, in its new place")
    func reinserted() async throws {
        let device = try FakeMachine.key(7)
        machine.plug(device, into: "1-2", fido: "/dev/hidraw0")
        let key = try await keys().only()
        let back: @Sendable (inout FakeMachine.Parts) -> Void = { parts in
            parts.usb = [FakeMachine.usb("1-2", card: false, address: 5, vendor: 0x1050, serial: nil, .readable)]
            parts.hid = [FakeMachine.hid("/dev/hidraw4", .fido, "1-2", 5, 0x1050, nil, .readable)]
            parts.keys["/dev/hidraw4"] = device
        }
        machine.afterwards([{ _ in }, FakeMachine.unplug("1-2"), back])
        let announced = Mutex(0)
        let again = try await key.reinserted(within: .seconds(3000)) { announced.withLock { $0 += 1 } }
        #expect(again.attached?.hid.map(\.path) == ["/dev/hidraw4"] && announced.withLock { $0 } == 1)
        let fido = try await again.open(FIDOService.self)
        #expect(await fido.profile.carrier == .hid && machine.opened.last == "/dev/hidraw4")
        await #expect(throws: KeyError.self) { try await again.reinserted(within: .milliseconds(100)) }
        let cards = FakeMachine()
        cards.lay(device, on: "A")
        let card = try await KeyRing(environment: ServiceEnvironment(timeout: .seconds(600)), hardware: cards).only()
        let empty: @Sendable (inout FakeMachine.Parts) -> Void = { $0.readers[0].hasCard = false }
        let filled: @Sendable (inout FakeMachine.Parts) -> Void = { $0.readers[0].hasCard = true }
        cards.afterwards([empty, filled])
        try await expect(card.reinserted(within: .seconds(3000)).attached?.reader, is: "A")
        let virtual = try await KeyRing(source: .virtual(.demonstration())).only()
        try await expect(virtual.reinserted().name, is: virtual.name)
    }

    @Test func aCardThatIsPutBack() async throws {
        let device = try FakeMachine.key(7)
        machine.lay(device, on: "A")
        let empty: @Sendable (inout FakeMachine.Parts) -> Void = { $0.readers[0].hasCard = false }
        let filled: @Sendable (inout FakeMachine.Parts) -> Void = { $0.readers[0].hasCard = true }
        machine.afterwards([{ _ in }, empty, filled])
        try await expect(keys().reinsertedReader("A", within: .seconds(3000)) {}, is: "A")
        let other = try FakeMachine.key(8)
        machine.afterwards([empty, { $0.keys["A"] = other }, filled])
        await #expect(throws: KeyError.differentKey) {
            try await keys().reinsertedReader("A", within: .seconds(3000)) {}
        }
        let patience = Duration.milliseconds(100)
        await #expect(throws: KeyError.self) { try await keys().reinsertedReader("A", within: patience) {} }
    }

    @Test func aCardThatIsHeldToAReader() async throws {
        let asked = Mutex(0)
        let announce = { @Sendable in asked.withLock { $0 += 1 } }
        machine.lay(try FakeMachine.key(7), on: "A")
        try await keys().waitForCard(announce)
        expect(asked.withLock { $0 }, is: 0)
        machine.change { $0.readers[0].hasCard = false }
        machine.afterwards([{ _ in }, { $0.readers[0].hasCard = true }])
        try await keys().waitForCard(announce)
        expect(asked.withLock { $0 }, is: 1)
        machine.change { $0.readers[0].hasCard = false }
        await #expect(throws: KeyError.self) { try await keys(timeout: .milliseconds(100)).waitForCard(announce) }
        machine.afterwards([{ _ in }, { $0.serviceTrouble = .serviceNotRunning }])
        await #expect(throws: KeyError.link(.serviceNotRunning)) { try await keys().waitForCard(announce) }
        await #expect(throws: KeyError.link(.serviceNotRunning)) { try await keys().waitForCard(announce) }
    }
}

extension Key {
    /// Whether a touch on the key finds it, twice.
    fileprivate func touchedTwice(_ keys: KeyRing) async throws -> Bool {
        let first = try await keys.touched()
        let second = try await keys.touched()
        return first.attached?.key.place == second.attached?.key.place
    }
}
