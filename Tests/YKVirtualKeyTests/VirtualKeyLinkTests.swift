// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// A program's connection to a key in the same process.
struct VirtualKeyLinkTests {
    private static let select = try? Hex.decode("00a4040007a000000527210100")
    private static let list: [UInt8] = [0, 0xA1, 0, 0, 0]

    private static func selectOATH(_ link: any CardLink) throws -> [UInt8] {
        try link.exchange(try #require(select), deadline: .after(.seconds(5)))
    }

    @Test("the demonstration key is always the same")
    func demonstration() throws {
        expect(VirtualKeyState.demonstration(), is: .demonstration())
        let channel = CardChannel(link: VirtualKey.demonstration().link())
        #expect(try channel.select(.oath).starts(with: [0x79, 3, 5, 7, 1]))
        channel.continuation = 0xA5
        let reply = try channel.transmit(APDU(ins: 0xA1))
        try expect(TLV.list(reply.data).count, is: 7)
        #expect(channel.identity.takesExtendedLength)
    }

    @Test("links share the key; another one's use is told at the next begin")
    func sharing() throws {
        let key = VirtualKey.demonstration()
        let (first, second) = (key.link(), key.link())
        let deadline = Deadline.after(.seconds(5))
        try expect(first.begin(deadline: deadline), is: false)
        _ = try Self.selectOATH(first)
        first.end()
        try expect(first.begin(deadline: deadline), is: false)
        first.end()
        #expect(try second.begin(deadline: deadline))
        second.close()
        #expect(try first.begin(deadline: deadline))
        try expect(first.begin(deadline: deadline), is: false)
        first.close()
    }

    @Test("a key that is held is busy for others until their time is over")
    func busy() throws {
        let key = VirtualKey.demonstration()
        let (first, second) = (key.link(), key.link())
        _ = try first.begin(deadline: .after(.seconds(5)))
        let expected = LinkError.busy(reader: VirtualKey.readerName, holders: [])
        #expect(throws: expected) { try second.begin(deadline: .after(.zero)) }
        #expect(throws: expected) { try second.exchange(Self.list, deadline: .after(.zero)) }
        let stop = Cancellation()
        stop.cancel()
        #expect(throws: LinkError.cancelled) { try second.begin(deadline: .after(.seconds(5), cancellation: stop)) }
        first.close()
        try expect(second.exchange(Self.list, deadline: .after(.seconds(5))), is: [0x6D, 0x00])
    }

    @Test("a reset loses the selection")
    func reset() throws {
        let link = VirtualKey.demonstration().link()
        _ = try Self.selectOATH(link)
        try link.reset(.warm, deadline: .after(.seconds(5)))
        try expect(link.exchange(Self.list, deadline: .after(.seconds(5))), is: [0x6D, 0x00])
    }

    @Test("waiting for a touch ends with the touch, the deadline, or when called off")
    func touch() throws {
        let asked = Mutex(0)
        let key = VirtualKey.demonstration(
            inputs: VirtualInputs(touch: { _ in
                asked.withLock { asked in
                    asked += 1
                    return asked > 2 ? .touched : .pending
                }
            }))
        let link = key.link()
        _ = try Self.selectOATH(link)
        let data = Bench.calculate("Careful:erin", Bench.bytes(1))
        let command = try APDU(ins: 0xA2, p2: 1, data: data).encoded(.short)
        #expect(throws: LinkError.timedOut("waiting for a touch")) {
            try link.exchange(command, deadline: .after(.zero))
        }
        let stop = Cancellation()
        stop.cancel()
        #expect(throws: LinkError.cancelled) {
            try link.exchange(command, deadline: .after(.seconds(5), cancellation: stop))
        }
        let reply = try link.exchange(command, deadline: .after(.seconds(5)))
        #expect(Hex.encode(reply).hasPrefix("760506") && Hex.encode(reply).hasSuffix("9000"))
    }
}
