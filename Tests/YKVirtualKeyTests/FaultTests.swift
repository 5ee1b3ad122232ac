// SPDX-License-Identifier: Apache-2.0

import Testing
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// Faults on the way to a key.
struct FaultTests {
    private static func link(_ plan: String) throws -> FaultyLink {
        let link = FaultyLink(VirtualKey.demonstration().link(), plan: try FaultPlan(parsing: plan))
        let select = try APDU.select(.oath).encoded(.short)
        try expect(link.exchange(select, deadline: .after(.seconds(5))).suffix(2), is: [0x90, 0])
        return link
    }

    private static func send(_ link: FaultyLink, _ hex: String = "00a1000000") throws -> String {
        Hex.encode(try link.exchange(try Hex.decode(hex), deadline: .after(.seconds(5))))
    }

    @Test("without rules nothing goes wrong")
    func none() throws {
        let link = try Self.link("")
        #expect(try Self.send(link).hasSuffix("9000"))
        expect(link.identity.reader, is: VirtualKey.readerName)
        try expect(link.begin(deadline: .after(.seconds(1))), is: false)
        link.end()
        try link.reset(.warm, deadline: .after(.seconds(1)))
        try expect(Self.send(link), is: "6d00")
        link.close()
    }

    @Test("a dropped reply is silence until the deadline")
    func drop() throws {
        let link = try Self.link("at 2: drop")
        #expect(throws: LinkError.timedOut("waiting for a reply")) {
            try link.exchange([0, 0xA1, 0, 0, 0], deadline: .after(.milliseconds(200)))
        }
        #expect(try Self.send(link).hasSuffix("9000"))
    }

    @Test("a dropped command was obeyed all the same")
    func dropObeyed() throws {
        let key = VirtualKey.demonstration()
        let link = FaultyLink(key.link(), plan: FaultPlan([.init(.at(2), .drop)]))
        _ = try link.exchange(try APDU.select(.oath).encoded(.short), deadline: .after(.seconds(5)))
        #expect(throws: LinkError.self) {
            try link.exchange([0, 4, 0xDE, 0xAD, 0], deadline: .after(.milliseconds(200)))
        }
        #expect(key.state.oath.accounts.isEmpty)
    }

    @Test("a delay ends by itself or by the deadline")
    func delay() throws {
        let link = try Self.link("at 2: delay 1ms; at 3: delay 2s")
        #expect(try Self.send(link).hasSuffix("9000"))
        #expect(throws: LinkError.timedOut("waiting for a reply")) {
            try link.exchange([0, 0xA1, 0, 0, 0], deadline: .after(.milliseconds(200)))
        }
    }

    @Test(
        "replies are cut, replaced and invented",
        arguments: [
            ("truncate 3", "721721"), ("truncate 0", ""), ("garbage", "deadbeef00ff7f80"), ("garbage 0a0b", "0a0b"),
            ("status 6f00", "6f00"), ("more", String(repeating: "00", count: 32) + "61ff"), ("more empty", "61ff"),
        ])
    func replies(_ fault: String, _ reply: String) throws {
        try expect(Self.send(try Self.link("at 2: \(fault)")), is: reply)
    }

    @Test("more without end goes on for what asks for more, and ends with another command")
    func endless() throws {
        let link = try Self.link("on 00a1: more empty")
        for command in ["00a1000000", "00a5000000", "00a5000000", "00c0000000"] {
            try expect(Self.send(link, command), is: "61ff")
        }
        try expect(Self.send(link, "00ff000000"), is: "6d00")
        try expect(Self.send(link, "00a5000000"), is: "6985")
    }

    @Test("the channel gives up on an endless reply", arguments: ["more", "more empty"])
    func endlessThroughChannel(_ fault: String) throws {
        let plan = try FaultPlan(parsing: "on 00a1: \(fault)")
        let channel = CardChannel(link: FaultyLink(VirtualKey.demonstration().link(), plan: plan))
        _ = try channel.select(.oath)
        channel.continuation = 0xA5
        #expect(throws: CardError.self) { try channel.transmit(APDU(ins: 0xA1)) }
    }

    @Test("a key that is taken away is gone for everything")
    func remove() throws {
        let link = try Self.link("at 2: remove")
        for _ in 0..<2 {
            #expect(throws: LinkError.removed) { try Self.send(link) }
        }
        #expect(throws: LinkError.removed) { try link.begin(deadline: .after(.seconds(1))) }
        #expect(throws: LinkError.removed) { try link.reset(.warm, deadline: .after(.seconds(1))) }
    }

    @Test("a reset loses the selection, and the channel selects again")
    func reset() throws {
        let link = try Self.link("at 2: reset")
        #expect(throws: LinkError.reset) { try Self.send(link) }
        #expect(try link.begin(deadline: .after(.seconds(1))))
        try expect(link.begin(deadline: .after(.seconds(1))), is: false)
        try expect(Self.send(link), is: "6d00")
    }

    @Test("rules say when")
    func triggers() throws {
        let link = try Self.link("from 4: status 6f02; on 00a1 at 2: status 6f01")
        #expect(try Self.send(link).hasSuffix("9000"))
        try expect(Self.send(link), is: "6f01")
        try expect(Self.send(link), is: "6f02")
        try expect(Self.send(link, "00ff000000"), is: "6f02")
    }

    @Test(
        "the text says what the plan is",
        arguments: [
            ("at 3: remove", FaultPlan.Rule(.at(3), .remove(back: nil))),
            ("  from 12 :remove 2s ", .init(.from(12), .remove(back: .seconds(2)))),
            ("on 00A4: drop", .init(.on([0, 0xA4], number: nil), .drop)),
            ("on a4 at 7: delay 500ms", .init(.on([0xA4], number: 7), .delay(.milliseconds(500)))),
            ("at 1: truncate 0", .init(.at(1), .truncate(0))), ("at 1: reset", .init(.at(1), .reset)),
            ("at 1: more", .init(.at(1), .endless(withData: true))),
            ("at 1: status 9100", .init(.at(1), .status(.stillWorking))),
        ])
    func text(_ text: String, _ rule: FaultPlan.Rule) throws {
        try expect(FaultPlan(parsing: text).rules, is: [rule])
        try expect(FaultPlan(parsing: ";\n\(text);;").rules, is: [rule])
    }

    @Test(
        "a malformed rule is refused with its position",
        arguments: [
            "remove", "at 0: drop", "at x: drop", "at 1 drop", "at 1:", "at 1: explode", "on : drop", "on zz: drop",
            "on 00a4 at: drop", "on 00a4 at 0: drop", "at 1: delay", "at 1: delay 5", "at 1: delay 99999999999s",
            "at 1: truncate -1", "at 1: status 9", "at 1: status zz00", "at 1: garbage xyz", "at 1: more less",
            "at 1: drop it", "at 99999999999999999999: drop",
        ])
    func badText(_ text: String) {
        #expect { try FaultPlan(parsing: "at 1: drop; \(text)") } throws: { error in
            (error as? WireError)?.code == .malformed && (error as? WireError)?.offset == 11
        }
    }
}
