// SPDX-License-Identifier: Apache-2.0

import Testing
import YKHardware
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKBridge

/// The device that programs see.
@Suite(.serialized) struct DeviceTests {
    @Test("INIT is answered without a card, with what the last card can do")
    func capabilities() throws {
        let desk = Desk()
        expect(desk.authenticator.capabilities, is: 0x05)
        _ = try desk.channel()
        desk.lay(try VirtualKey.new(.arculusP71))
        // The card says FIDO_2_0: no U2F.
        expect(desk.authenticator.capabilities, is: 0x0D)
        desk.lift()
        expect(desk.authenticator.capabilities, is: 0x0D)
        desk.lay(try VirtualKey.new(.arculus))
        expect(desk.authenticator.capabilities, is: 0x05)
        desk.lift()
        desk.lay { ScriptedLink { $0[1] == 0xA4 ? Array("U2F_V2".utf8) + [0x90, 0] : [0x6D, 0] } }
        expect(desk.authenticator.capabilities, is: 0x01)
    }

    @Test("PING, WINK, LOCK, and what is unknown")
    func otherCommands() throws {
        let desk = Desk()
        let channel = try desk.channel()
        try expect(desk.ask(.ping, on: channel, [1, 2, 3])?.payload, is: [1, 2, 3])
        try expect(desk.ask(.wink, on: channel, [])?.command, is: .wink)
        expect(desk.events, is: [.winked])
        for command: UInt8 in [0x40, 0x42, 0x43, 0x7E, 0x20] {
            let answer = try desk.ask(.init(rawValue: command), on: channel, [1])
            #expect(answer?.command == .error && answer?.payload == [1])
        }
        try expect(desk.ask(on: channel, [0x50])?.payload, is: [CTAPProtocol.Status.invalidCommand])
        try expect(desk.ask(on: channel, [])?.payload, is: [3])
        let other = try desk.channel()
        try expect(desk.ask(.lock, on: channel, [5])?.command, is: .lock)
        try expect(desk.ask(.ping, on: other, [1])?.payload, is: [6])
        desk.pass(.seconds(6))
        try expect(desk.ask(.ping, on: other, [1])?.payload, is: [1])
    }

    @Test("U2F commands that no standard defines do not reach the card")
    func otherU2FCommands() throws {
        let desk = Desk()
        let log = ScriptedLink.Log()
        desk.lay { ScriptedLink(log: log) { _ in [0x90, 0] } }
        let before = log.commands.count
        let channel = try desk.channel()
        for (payload, word) in [
            (try CTAP.u2f(0x43), [0x6D, 0x00]), (try CTAP.u2f(0x45), [0x6D, 0x00]), ([1, 2, 3], [0x67, 0x00]),
            ([0x80, 0x10, 0, 0, 1, 4], [0x6E, 0x00]), ([0x00, 0x03, 0, 0, 0, 0, 1, 0, 0], [0x67, 0x00]),
        ] as [([UInt8], [UInt8])] {
            try expect(desk.ask(.msg, on: channel, payload)?.payload, is: word)
        }
        expect(log.commands.count, is: before)
    }

    @Test("python-fido2's empty extended command is a version request")
    func emptyExtended() throws {
        let (desk, _, channel) = try Desk.withKey()
        let answer = try desk.ask(.msg, on: channel, [0, 3, 0, 0, 0, 0, 0, 0, 0])
        expect(answer?.payload, is: Array("U2F_V2".utf8) + [0x90, 0])
    }

    @Test("while the card works, programs get keepalives, other channels an error, and INIT an answer")
    func busy() throws {
        let desk = Desk()
        desk.lay(try VirtualKey.new())
        let (first, second) = (try desk.channel(), try desk.channel())
        desk.work.isHeld = true
        try desk.send(.cbor, on: first, CTAP.register())
        for _ in 0..<20 {
            desk.pass(.milliseconds(100))
            let messages = try desk.messages(first)
            expect(messages, is: [.init(.keepalive, on: first, [1])])
        }
        try desk.send(.cbor, on: second, CTAP.info)
        try expect(desk.messages(second), is: [.init(.error, on: second, [6])])
        _ = try desk.channel()
        desk.work.go()
        desk.poll()
        try expect(desk.messages(first).last?.payload.first, is: 0)
    }

    @Test("what the card says it does is what programs are told")
    func keepalives() throws {
        let (desk, _, channel) = try Desk.withKey()
        desk.work.isHeld = true
        try desk.send(.cbor, on: channel, CTAP.register())
        _ = try desk.messages(channel)
        let job = try #require(desk.authenticator.job?.number)
        desk.inbox.add(.keepalive(job: job, .touchNeeded))
        desk.inbox.add(.keepalive(job: job + 1, .processing))
        desk.pass(.milliseconds(10))
        try expect(desk.messages(channel), is: [.init(.keepalive, on: channel, [2])])
        desk.work.go()
        desk.poll()
        try expect(desk.messages(channel).last?.payload.first, is: 0)
    }

    @Test("a card that answers 9100 is polled, and told when the program cancels")
    func cancelled() throws {
        let desk = Desk()
        let log = ScriptedLink.Log()
        nonisolated(unsafe) var channel = CTAPHID.Channel.broadcast
        nonisolated(unsafe) let desk2 = desk
        desk.lay {
            ScriptedLink(atr: Desk.contactless, log: log) { command throws(LinkError) -> [UInt8] in
                switch (command[1], command[2]) {
                case (0xA4, _): return Array("FIDO_2_0".utf8) + [0x90, 0]
                case (0x10, _) where command.contains(0x04) && command.count < 8: return [0, 0xA0, 0x90, 0]
                case (0x11, 0x11): return [0x2D, 0x90, 0x00]
                case (0x11, _):
                    if log.commands.count(where: { $0[1] == 0x11 }) == 3 { try? desk2.send(.cancel, on: channel) }
                    return [2, 0x91, 0x00]
                default: return [1, 0x91, 0x00]
                }
            }
        }
        channel = try desk.channel()
        desk.work.isHeld = true
        try desk.send(.cbor, on: channel, CTAP.register())
        desk.work.go()
        desk.poll()
        try expect(desk.messages(channel).last, is: .init(.cbor, on: channel, [0x2D]))
        #expect(log.text.last == "8011110000" || log.text.contains("8011110000"))
        #expect(desk.authenticator.job == nil)
        desk.work.isHeld = false
        try expect(desk.ask(on: channel, CTAP.info)?.payload, is: [0, 0xA0])
    }

    @Test("a message that is cancelled before its turn never reaches the card")
    func cancelledEarly() throws {
        let (desk, key, channel) = try Desk.withKey()
        desk.work.isHeld = true
        try desk.send(.cbor, on: channel, CTAP.register(isResident: true))
        try desk.send(.cancel, on: channel)
        try expect(desk.messages(channel).last?.payload, is: [0x2D])
        // The next message waits for the card that is not done yet.
        try desk.send(.cbor, on: channel, CTAP.signIn())
        desk.pass(.milliseconds(100))
        try expect(desk.messages(channel).last?.command, is: .keepalive)
        desk.work.isHeld = false
        desk.work.go()
        desk.poll()
        // The presence may have been used: the card is to be lifted.
        desk.pass(.seconds(1))
        expect(desk.waits, is: [.lift(reader: Desk.reader)])
        desk.lift()
        desk.lay(key)
        try expect(desk.messages(channel).last?.payload, is: [CTAPProtocol.Status.noCredentials])
    }

    @Test("a program that ends, or resynchronises, leaves nothing behind")
    func ends() throws {
        let desk = Desk()
        let key = try VirtualKey.new()
        let channel = try desk.channel()
        try desk.send(.cbor, on: channel, CTAP.register())
        expect(desk.waits, is: [.card])
        desk.close()
        #expect(desk.events.last == .waitEnded && desk.authenticator.current == nil)
        desk.lay(key)
        #expect(try desk.messages(channel).allSatisfy { $0.command == .keepalive })
        try desk.send(.cbor, on: channel, CTAP.pin(2))
        #expect(desk.authenticator.hold != nil)
        try expect(desk.messages(channel).last?.payload.first, is: 0)
        desk.close()
        #expect(desk.authenticator.hold == nil)
        desk.work.isHeld = true
        try desk.send(.cbor, on: channel, CTAP.register())
        try desk.send(.initialize, on: channel, [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(desk.authenticator.current == nil && desk.authenticator.job?.cancellation.isCancelled == true)
        desk.work.go()
        desk.poll()
        #expect(try !desk.messages(channel).contains { $0.command == .cbor })
        desk.authenticator.end()
        desk.work.go()
        #expect(desk.authenticator.slots.isEmpty)
    }

    @Test("a card that never answers is given up after a minute, and the next message after half of one")
    func stuck() throws {
        let (desk, _, channel) = try Desk.withKey()
        desk.work.isHeld = true
        let start = desk.now
        try expect(desk.ask(on: channel, CTAP.register())?.payload, is: [0x2F])
        #expect(start.duration(to: desk.now) <= .seconds(61))
        let again = desk.now
        try expect(desk.ask(on: channel, CTAP.info)?.payload, is: [6])
        #expect(again.duration(to: desk.now) <= .seconds(31))
        try expect(desk.ask(.msg, on: channel, try CTAP.u2f(3))?.payload, is: [0x6F, 0])
    }

    @Test("hostile programs: floods, cut messages, wrong sequence numbers, foreign channels")
    func hostile() throws {
        let (desk, _, channel) = try Desk.withKey()
        var random = SystemRandomNumberGenerator()
        for _ in 0..<3000 {
            var report = (0..<64).map { _ in UInt8.random(in: 0...255, using: &random) }
            if Bool.random(using: &random) { report.replaceSubrange(0..<4, with: channel.bytes) }
            if Bool.random(using: &random) { report[4] = [0x90, 0x83, 0x86, 0x91, 0, 1].randomElement() ?? 0 }
            desk.write(report)
            while desk.read() != nil {}
        }
        for report in [[], [1], [UInt8](repeating: 0, count: 65)] { desk.write(report) }
        let cut = try CTAPHID.Message(.cbor, on: channel, CTAP.register()).reports().prefix(1)
        for report in cut { desk.write(report) }
        desk.pass(.seconds(1))
        while desk.read() != nil {}
        desk.pass(.seconds(400))
        while desk.read() != nil {}
        for _ in 0..<70_000 {
            try desk.send(.initialize, on: .broadcast, [1, 2, 3, 4, 5, 6, 7, 8])
            _ = desk.read()
        }
        try expect(desk.ask(on: channel, CTAP.info)?.command, is: .error)
        let fresh = try desk.channel()
        try expect(desk.ask(on: fresh, CTAP.info)?.payload.first, is: 0)
    }

    @Test("the device is there while a card is, and a little longer")
    func lifetime() throws {
        let desk = Desk()
        desk.poll()
        #expect(!desk.isWanted)
        desk.lay(try VirtualKey.new())
        desk.poll()
        #expect(desk.isWanted)
        desk.lift()
        desk.pass(.seconds(9))
        #expect(desk.isWanted)
        desk.pass(.seconds(2))
        #expect(!desk.isWanted)
        var settings = BridgeSettings()
        settings.staysPluggedIn = true
        let always = Desk(settings)
        always.poll()
        #expect(always.isWanted)
    }
}
