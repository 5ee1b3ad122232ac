// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKVirtualKeyHost
import YKWire

/// The smart card reader of a key on the USB.
struct CCIDTests {
    private let served: USBIPTests.Served
    private var host: USBIPTests.Host { served.hosts[0] }

    init() throws { served = try USBIPTests.Served() }

    private func send(
        _ kind: UInt8, _ data: [UInt8] = [], slot: UInt8 = 0, level: UInt8 = 0, to host: USBIPTests.Host? = nil
    ) -> [UInt8] {
        let host = host ?? self.host
        let head: [UInt8] = [kind, UInt8(data.count & 0xFF), UInt8(data.count >> 8), 0, 0, slot, 42, 0, level, 0]
        expect(host.write(2, head + data), is: 0)
        return host.read(2, 4096)
    }

    private let select: [UInt8] = [0, 0xA4, 4, 0, 7, 0xA0, 0, 0, 5, 0x27, 0x21, 1, 0]

    @Test func powerParametersAndCommands() throws {
        expect(host.read(3, 8), is: [0x50, 3])
        expect(send(0x65), is: [0x81, 0, 0, 0, 0, 0, 42, 1, 0, 0])
        expect(send(0x6F, select)[7...8], is: [0x41, 0xFE])
        let atr = VirtualKeyState.demonstration().profile.atr
        expect(send(0x62), is: [0x80, UInt8(atr.count), 0, 0, 0, 0, 42, 0, 0, 0] + atr)
        expect(send(0x6C), is: [0x82, 7, 0, 0, 0, 0, 42, 0, 0, 1, 0x11, 0x10, 0, 0x4D, 0, 0xFE, 0])
        expect(send(0x61)[0], is: 0x82)
        expect(send(0x6F, select).suffix(2), is: [0x90, 0])
        expect(send(0x6F, [0, 0xA1, 0, 0, 0]).suffix(2), is: [0x90, 0])
        #expect(send(0x72)[0] == 0x81 && host.set(0x21, 1, 0, 2))
        for (kind, reply): (UInt8, UInt8) in [(0x6B, 0x83), (0x73, 0x84), (0x69, 0x80), (0x6E, 0x81), (0x77, 0x81)] {
            expect(send(kind)[0], is: reply)
        }
        expect(send(0x65, slot: 1)[7...8], is: [0x42, 5])
        expect(send(0x63)[7], is: 1)
        _ = send(0x62)
        expect(send(0x6F, [0, 0xA1, 0, 0, 0]).suffix(2), is: [0x6D, 0])
        served.end()
        #expect(served.events.withLock { $0.contains { if case .exchange = $0 { true } else { false } } })
    }

    @Test func commandsInParts() throws {
        _ = send(0x62)
        expect(send(0x6F, Array(select.prefix(4)), level: 1)[9], is: 0x10)
        expect(send(0x6F, Array(select[4..<8]), level: 3)[9], is: 0x10)
        expect(send(0x6F, Array(select[8...]), level: 2).suffix(2), is: [0x90, 0])
        expect(send(0x6F, [], level: 7)[7], is: 0x40)
        expect(send(0x6F, [], level: 0x10).count, is: 10)
        let huge = [0x6F, 0xFF, 0xFF, 0xFF, 0xFF, 0, 42, 0, 0, 0] as [UInt8]
        expect(host.write(2, huge), is: 0)
        expect(host.read(2, 4096).suffix(3), is: [0x40, 1, 0])
        served.end()
    }

    @Test("while the key waits for a touch the reader asks for time")
    func touch() throws {
        let touches = Mutex<VirtualInputs.Touch>(.pending)
        let inputs = VirtualInputs(touch: { _ in touches.withLock { $0 } })
        let other = try USBIPTests.Served(.demonstration(inputs: inputs))
        let host = other.hosts[0]
        _ = send(0x62, to: host)
        _ = send(0x6F, select, to: host)
        let data = Bench.calculate("Careful:erin", Bench.bytes(1))
        let command = try APDU(ins: 0xA2, p2: 1, data: data).encoded(.short)
        expect(send(0x6F, command, to: host)[7...8], is: [0x80, 10])
        expect(send(0x6F, select, to: host)[7...8], is: [0x40, 0xE0])
        touches.withLock { $0 = .touched }
        expect(host.read(2, 4096).suffix(2), is: [0x90, 0])
        other.end()
        served.end()
    }

    @Test("a key whose file another program has does not answer to power")
    func inUse() throws {
        let folder = Folder()
        let holder = try VirtualKey(file: folder["key.json"]).link()
        let other = try USBIPTests.Served(try VirtualKey(file: folder["key.json"]))
        _ = try holder.begin(deadline: .after(.seconds(1)))
        expect(send(0x62, to: other.hosts[0])[7...8], is: [0x42, 0xFE])
        holder.close()
        expect(send(0x62, to: other.hosts[0])[7], is: 0)
        other.end()
        served.end()
    }
}
