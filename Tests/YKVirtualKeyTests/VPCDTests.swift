// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKVirtualKeyHost
import YKWire

/// A virtual key in vpcd's reader.
struct VPCDTests {
    private let listener = Listener()
    private var address: VPCDAddress { VPCDAddress(port: listener.port) }
    private let select = [0x00, 0xA4, 0x04, 0x00, 0x07, 0xA0, 0x00, 0x00, 0x05, 0x27, 0x21, 0x01, 0x00] as [UInt8]
    private let list: [UInt8] = [0, 0xA1, 0, 0, 0]

    @Test("power, reset, answer to reset and commands")
    func session() throws {
        let serving = try Serving(.demonstration(), address)
        let reader = try #require(listener.accept())
        reader.send([1])
        expect(reader.ask([4]), is: VirtualKeyState.demonstration().profile.atr)
        expect(reader.ask(list), is: [0x6D, 0])
        expect(reader.ask(select).suffix(2), is: [0x90, 0])
        expect(reader.ask(list).suffix(2), is: [0x90, 0])
        reader.send([2])
        expect(reader.ask(list), is: [0x6D, 0])
        expect(reader.ask(select).suffix(2), is: [0x90, 0])
        reader.send([0])
        reader.send([9])
        reader.send([])
        reader.send([1])
        expect(reader.ask(list), is: [0x6D, 0])
        expect(reader.ask([0, 0xA1]), is: [0x67, 0])
        serving.end()
        expect(reader.receive(), is: [])
        let events = serving.events.withLock { $0 }
        #expect(events.first == .inserted && events.last == .removed)
        #expect(events.contains(.powerOn) && events.contains(.powerOff) && events.contains(.reset))
        #expect(events.contains(.exchange(command: list, response: [0x6D, 0])))
    }

    @Test("a key that nobody touches answers 6985 in the end")
    func touch() throws {
        let serving = try Serving(.demonstration(inputs: VirtualInputs(touch: { _ in .pending })), address)
        let reader = try #require(listener.accept())
        reader.send([1])
        _ = reader.ask(select)
        let data = Bench.calculate("Careful:erin", Bench.bytes(1))
        expect(reader.ask(try APDU(ins: 0xA2, p2: 1, data: data).encoded(.short)), is: [0x69, 0x85])
        serving.end()
    }

    @Test("faults: silence, a delay, a cut, and the end")
    func faults() throws {
        let plan = "at 2: drop; at 3: delay 1ms; at 4: truncate 3; at 5: remove"
        let serving = try Serving(.demonstration(), address, plan)
        let reader = try #require(listener.accept())
        reader.send([1])
        expect(reader.ask(select).suffix(2), is: [0x90, 0])
        reader.send(list)
        expect(reader.ask(list).suffix(2), is: [0x90, 0])
        expect(reader.ask(list), is: [0x72, 0x17, 0x21])
        expect(reader.ask(list), is: [])
        serving.end(byItself: true)
        expect(serving.failure.withLock { $0 }, is: nil)
    }

    @Test("a key that is reset or taken away for a while comes back", arguments: ["reset", "remove 1ms"])
    func back(_ fault: String) throws {
        let serving = try Serving(.demonstration(), address, "at 2: \(fault)")
        let first = try #require(listener.accept())
        first.send([1])
        expect(first.ask(select).suffix(2), is: [0x90, 0])
        expect(first.ask(list), is: [])
        let between = try #require(listener.accept())
        expect(between.ask([4]), is: [], "the reader is told once that there is no card")
        let second = try #require(listener.accept())
        second.send([1])
        expect(second.ask(list), is: [0x6D, 0])
        serving.end()
    }

    @Test("a reader that goes away ends the server, or is waited for")
    func readerGone() throws {
        let serving = try Serving(.demonstration(), address)
        _ = try #require(listener.accept())
        serving.end(byItself: true)
        expect(serving.failure.withLock { $0 }, is: .readerGone(address))
        let patient = try Serving(.demonstration(), address, reconnects: true)
        _ = try #require(listener.accept())
        let again = try #require(listener.accept())
        expect(again.ask(list), is: [0x6D, 0])
        patient.end()
    }

    @Test("where nothing listens, or no host is, nothing is served")
    func notReachable() throws {
        let nobody = VPCDAddress(port: { Listener().port }())
        var server = VPCDServer(.demonstration(), at: nobody, cancellation: Cancellation())
        let error = #expect(throws: VPCDError.self) { try server.run() }
        expect(error?.description.contains("no virtual reader at 127.0.0.1:\(nobody.port)"), is: true)
        var nowhere = VPCDServer(
            .demonstration(), at: VPCDAddress(host: "host.invalid"), cancellation: Cancellation())
        #expect(throws: VPCDError.unknownHost("host.invalid")) { try nowhere.run() }
        let stopped = Cancellation()
        stopped.cancel()
        var never = VPCDServer(.demonstration(), at: nobody, cancellation: stopped)
        try never.run()
    }

    @Test("a state file that another program has: the key answers that its memory fails")
    func stateInUse() throws {
        let folder = Folder()
        let other = try VirtualKey(file: folder["key.json"]).link()
        let serving = try Serving(try VirtualKey(file: folder["key.json"]), address)
        let reader = try #require(listener.accept())
        _ = try other.begin(deadline: .after(.seconds(1)))
        expect(reader.ask(select), is: [0x65, 0x81])
        other.close()
        expect(reader.ask(select).suffix(2), is: [0x90, 0])
        serving.end()
    }

    @Test(
        "an address is read from text",
        arguments: [
            ("", "127.0.0.1:35963"), ("127.0.0.1:12345", "127.0.0.1:12345"), (":99", "127.0.0.1:99"),
            ("reader.example", "reader.example:35963"), ("[::1]:80", "[::1]:80"), ("[::1]", "[::1]:35963"),
        ])
    func addresses(_ text: String, _ expected: String) throws {
        try expect(VPCDAddress(parsing: text).description, is: expected)
    }

    @Test("a wrong address is refused", arguments: ["x:", "x:0", "x:65536", "x:y", "[::1", "[::1]x", "a:1:2"])
    func badAddresses(_ text: String) {
        #expect(throws: WireError.self) { try VPCDAddress(parsing: text) }
    }
}
