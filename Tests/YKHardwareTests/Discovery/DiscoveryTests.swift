// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKTransport
import YKWire

@testable import YKHardware

/// Interfaces become keys.
@Suite struct DiscoveryTests {
    private let bus: FakeBus
    private let system: FakeSystem

    init() throws {
        bus = try FakeBus()
        system = try FakeSystem()
    }

    private static let yubikey = ["manufacturer": "Yubico", "product": "YubiKey OTP+FIDO+CCID"]
    private func reader(_ number: Int, _ name: String = "Yubico YubiKey OTP+FIDO+CCID") -> ReaderStatus {
        ReaderStatus(name: "\(name) 0\(number) 00", hasCard: true)
    }

    private func merge(
        _ readers: [ReaderStatus] = [], _ places: [String: (bus: Int, address: Int)] = [:]
    ) throws -> [SecurityKey] {
        Discovery.merge(bus.machine.all(), try system.machine.keys(), readers) { places[$0] }
    }

    @Test func oneKeyOfAllItsInterfaces() throws {
        try bus.plug("1-2", 4, texts: Self.yubikey, driver: "usbfs")
        try system.plug(0, FakeSystem.keyboard, at: "usb1/1-2/1-2:1.0")
        try system.plug(1, at: "usb1/1-2/1-2:1.1")
        let keys = try merge([reader(0)])
        let key = try #require(keys.first)
        #expect(keys.count == 1 && key.place == .usb("1-2") && key.reader == reader(0))
        #expect(key.fido?.path.hasSuffix("hidraw1") == true && key.otp?.path.hasSuffix("hidraw0") == true)
        #expect(key.usbReader != nil && key.hasCard && key.isAccessible && key.serial == nil)
        #expect(key.name == "Yubico YubiKey OTP+FIDO+CCID" && key.model == "YubiKey 4 or 5, OTP, FIDO and CCID")
        for path in ["1-2", key.usb?.node ?? "", key.fido?.path ?? "", key.otp?.path ?? ""] { #expect(key.isAt(path)) }
        #expect(!key.isAt("1-3"))
    }

    @Test func keysOfTheSameNameAreToldApartByTheService() throws {
        try bus.plug("1-2", 4, texts: Self.yubikey)
        try bus.plug("1-3", 5, texts: Self.yubikey)
        let readers = [reader(0), reader(1)]
        let keys = try merge(readers, [readers[0].name: (1, 5), readers[1].name: (1, 4)])
        expect(keys.map(\.reader?.name), is: [readers[1].name, readers[0].name])
        let unknown = try merge(readers)
        #expect(unknown.count == 4 && unknown.suffix(2).map(\.place.name) == readers.map(\.name))
        #expect(unknown[0].hasCard && unknown[2].usbReader == nil && unknown[2].name == readers[0].name)
    }

    @Test(arguments: [
        ("Nitrokey", "Nitrokey 3", "Nitrokey Nitrokey 3 [CCID/ICCD Interface] 00 00", true),
        ("SoloKeys", "Solo", "SoloKeys Solo 2 [CCID/ICCD Interface] 00 00", false),
        ("SoloKeys", "Solo", "SoloKeys Solo Hacker 00 00", false),
        ("Canokeys", "Canokey", "Canokeys Canokey [OpenPGP PIV OATH] 00 00", true),
        ("Identiv", "uTrust", "Yubico YubiKey CCID 00 00", false),
    ])
    func otherMakers(maker: String, product: String, reader: String, isSame: Bool) throws {
        try bus.plug("1-2", 4, texts: ["manufacturer": maker, "product": product])
        let keys = try merge([ReaderStatus(name: reader, hasCard: false)])
        expect(keys.count, is: (isSame ? 1 : 2))
        expect(keys[0].hasCard, is: !isSame)
    }

    @Test func devicesElsewhereAndReadersOnTheirOwn() throws {
        try system.plug(0, at: "virtual/misc/uhid", name: "Acme", serial: "A77")
        try system.plug(1, at: "usb1/1-9/1-9:1.0", hasNode: false)
        let keys = try merge([reader(0)])
        expect(keys.map(\.place.name).dropFirst(), is: ["1-9", reader(0).name])
        #expect(keys[0].place.name.hasSuffix("hidraw0") && keys[0].serial == "A77" && keys[0].name == "Acme")
        #expect(!keys[1].isAccessible && keys[1].usb == nil && keys[2].numbers == nil && keys[2].model == nil)
    }

    @Test func knownKeys() {
        expect(KnownKeys.name(vendor: 0x20A0, product: 0x42D4), is: "CanoKey")
        expect(KnownKeys.name(vendor: 0x1209, product: 0xBEEE), is: "SoloKeys Solo 2")
        expect(KnownKeys.name(vendor: 1, product: 2), is: nil)
    }

    // MARK: a machine

    /// The machine that the folders are, with one reader, or a service that fails.
    private func machine(failing trouble: LinkError? = nil) -> Discovery.Machine {
        Discovery.Machine(
            usb: bus.machine, hid: system.machine, news: { DeviceNews(hasDaemon: { false }) },
            readers: { [one = reader(0)] _, cancellation throws(LinkError) in
                if let trouble { throw trouble }
                if cancellation?.isCancelled ?? false { throw .cancelled }
                return [one]
            },
            readerEvents: { [one = reader(0)] in
                AsyncStream { stream in
                    if trouble == nil { stream.yield(.added(one)) }
                    stream.yield(trouble.map(ReaderEvent.interrupted) ?? .enumerated)
                }
            }, locate: { _, _ in nil })
    }

    private func keys(
        on machine: Discovery.Machine, asking service: Bool = true, _ cancellation: Cancellation? = nil
    ) throws(LinkError) -> Discovery.Findings {
        try Discovery.keys(on: machine, asking: service, timeout: .seconds(5), cancellation: cancellation)
    }

    @Test func aMachineWithAndWithoutItsService() throws {
        try bus.plug("1-2", 4, texts: Self.yubikey)
        try system.plug(1, at: "usb1/1-2/1-2:1.1")
        let found = try keys(on: machine())
        #expect(found.keys == (try merge([reader(0)])) && found.keys.count == 1 && found.serviceTrouble == nil)
        try expect(keys(on: machine(), asking: false).keys, is: merge())
        let without = try keys(on: machine(failing: .serviceNotRunning))
        #expect(without.keys == (try merge()) && without.serviceTrouble == .serviceNotRunning)
        let cancellation = Cancellation()
        cancellation.cancel()
        #expect(throws: LinkError.cancelled) { try keys(on: machine(), cancellation) }
        try expect(keys(on: machine(), asking: false, cancellation).keys, is: merge())
    }

    @Test func thisMachine() throws {
        try expect(Discovery.keys(asking: false).serviceTrouble, is: nil)
    }

    // MARK: what happens

    @Test func whatComesChangesAndGoes() throws {
        var picture = Discovery.Picture()
        picture.take(.enumerated)
        expect(picture.changes { _ in nil }, is: [])
        picture.look([], [])
        expect(picture.changes { _ in nil }, is: [.enumerated])
        try bus.plug("1-2", 4, texts: Self.yubikey)
        picture.look(bus.machine.all(), [])
        expect(picture.changes { _ in nil }, is: [.arrived(try merge()[0])])
        expect(picture.changes { _ in nil }, is: [])
        try system.plug(1, at: "usb1/1-2/1-2:1.1")
        picture.look(bus.machine.all(), try system.machine.keys())
        expect(picture.changes { _ in nil }, is: [.changed(try merge()[0])])
        picture.take(.added(reader(0)))
        picture.take(.changed(reader(0)))
        let whole = try merge([reader(0)])[0]
        expect(picture.changes { _ in nil }, is: [.changed(whole)])
        picture.take(.removed(reader(0).name))
        expect(picture.changes { _ in nil }, is: [.changed(try merge()[0])])
        picture.take(.interrupted(.serviceNotRunning))
        expect(picture.changes { _ in nil }, is: [])
        let old = try merge()[0]
        try bus.plug("1-2", 7, texts: Self.yubikey)
        picture.look(bus.machine.all(), try system.machine.keys())
        expect(picture.changes { _ in nil }, is: [.left(old), .arrived(try merge()[0])])
        picture.look([], [])
        expect(picture.changes { _ in nil }, is: [.left(try merge()[0])])
    }

    @Test func theServiceIsAskedOnceWhereAReaderIs() throws {
        try bus.plug("1-2", 4, texts: Self.yubikey)
        try bus.plug("1-3", 5, texts: Self.yubikey)
        var picture = Discovery.Picture()
        picture.look(bus.machine.all(), [])
        picture.take(.added(reader(0)))
        var asked = 0
        for _ in 0..<3 {
            _ = picture.changes { _ in
                asked += 1
                return (1, 5)
            }
        }
        expect(asked, is: 1)
    }

    @Test(.timeLimit(.minutes(15))) func theWatchTellsWhenItHasLookedAtEverything() async throws {
        try bus.plug("1-2", 4, texts: Self.yubikey)
        var events = Discovery.watch(machine()).makeAsyncIterator()
        // Devices and readers are looked at side by side: the key comes whole, or first without its reader.
        var known: SecurityKey?
        while let event = await events.next(), event != .enumerated {
            switch event {
            case .arrived(let key) where known == nil: known = key
            case .changed(let key) where known != nil: known = key
            default: Issue.record("\(event)")
            }
        }
        expect(known, is: (try merge([reader(0)])[0]))
        try system.plug(1, at: "usb1/1-2/1-2:1.1")
        await expect(events.next(), is: .changed(try merge([reader(0)])[0]))
        try system.plug(2, at: "virtual/misc/uhid")
        await expect(events.next(), is: .arrived(try merge([reader(0)])[1]))
        try system.unplug(2)
        guard case .left(let key) = await events.next() else { throw LinkError.removed }
        #expect(key.place.name.hasSuffix("hidraw2"))
    }

    @Test(.timeLimit(.minutes(15))) func theWatchGoesOnWithoutTheService() async throws {
        try bus.plug("1-2", 4, texts: Self.yubikey)
        var seen: [HardwareEvent] = []
        for await event in Discovery.watch(machine(failing: .serviceNotRunning)) {
            seen.append(event)
            if seen.count == 3 { break }
        }
        let key = try merge()[0]
        let isDevicesFirst = seen.first == .arrived(key)
        #expect(
            seen
                == (isDevicesFirst
                    ? [.arrived(key), .interrupted(.serviceNotRunning), .enumerated]
                    : [.interrupted(.serviceNotRunning), .arrived(key), .enumerated]))
    }

    @Test(.timeLimit(.minutes(15)), arguments: [DeviceNews(hasDaemon: { false }), .here])
    func devicesAreLookedAtAtOnce(_ news: DeviceNews) async {
        var changes = news.changes().makeAsyncIterator()
        #expect(await changes.next() != nil)
        // Without libudev, devices are polled.
        if news.library == nil { #expect(await changes.next() != nil) }
    }

    @Test func channels() {
        expect(PCSC.address(0x0020_0104).map { $0.bus == 1 && $0.address == 4 }, is: true)
        #expect(PCSC.address(0x0008_0000) == nil)
        #expect(PCSC.usbAddress(of: "no such reader", timeout: .seconds(1)) == nil)
    }
}
