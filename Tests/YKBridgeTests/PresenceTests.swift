// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKHardware
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKBridge

/// One laying-down, one ceremony; cards with contacts are confirmed.
@Suite(.serialized) struct PresenceTests {
    private let lift = BridgeWait.lift(reader: Desk.reader)

    @Test("a card is awaited with keepalives that say so, and used once it is laid down")
    func awaited() throws {
        let desk = Desk()
        let key = try VirtualKey.new()
        let channel = try desk.channel()
        let answer = try desk.ask(on: channel, CTAP.register()) { if $0 == 20 { desk.lay(key) } }
        expect(answer?.payload.first, is: 0)
        expect(
            desk.events,
            is: [
                .waiting(.card, for: .register(site: "example.com", user: "alice")),
                .cardReady(reader: Desk.reader, isContactless: true), .waitEnded,
                .answered(.register(site: "example.com", user: "alice"), reader: Desk.reader, status: 0),
            ])
    }

    @Test("nobody lays a card down: the wait ends after 30 seconds")
    func nobody() throws {
        let desk = Desk()
        let channel = try desk.channel()
        for (message, status) in [(CTAP.register(), 0x2F), (CTAP.select, 0x2F), (CTAP.info, 0x2F)] as [([UInt8], UInt8)]
        {
            let start = desk.now
            try expect(desk.ask(on: channel, message)?.payload, is: [status])
            #expect(start.duration(to: desk.now) <= .seconds(31))
        }
        expect(desk.events.last, is: .waitEnded)
    }

    @Test("a second ceremony needs the card to be lifted and laid down again")
    func once() throws {
        let (desk, key, channel) = try Desk.withKey()
        let made = try #require(try desk.ask(on: channel, CTAP.register()))
        let id = try CTAP.credential(made.payload)
        // To look for credentials is no ceremony.
        try expect(desk.ask(on: channel, CTAP.signIn(credential: id, up: false))?.payload.first, is: 0)
        expect(desk.waits, is: [])
        let answer = try desk.ask(on: channel, CTAP.signIn(credential: id)) { round in
            if round == 5 { expect(desk.waits, is: [lift]); desk.lift() }
            if round == 9 { desk.lay(key) }
        }
        expect(answer?.payload.first, is: 0)
        // Without it nothing is signed.
        let counter = key.state.fido
        try expect(desk.ask(on: channel, CTAP.signIn(credential: id))?.payload, is: [0x2F])
        expect(key.state.fido, is: counter)
        expect(desk.cards.connections, is: 2)
    }

    @Test("a card that lies there for two minutes, or lay there before, shows nobody")
    func stale() throws {
        let desk = Desk()
        let key = try VirtualKey.new()
        desk.lay(key)
        desk.pass(.seconds(121))
        let channel = try desk.channel()
        try expect(desk.ask(on: channel, CTAP.register())?.payload, is: [0x2F])
        for event: ReaderEvent in [.removed(Desk.reader), .interrupted(.serviceNotRunning)] {
            desk.inbox.add(.reader(event))
            // The reader comes back with its card.
            desk.inbox.add(.reader(.added(ReaderStatus(name: Desk.reader, hasCard: true, atr: Desk.contactless))))
            desk.inbox.add(.reader(.enumerated))
            try expect(desk.ask(on: channel, CTAP.register())?.payload, is: [0x2F])
        }
        #expect(desk.events.contains(.serviceFailed(.serviceNotRunning)))
        // A card that cannot be powered at first may have lain there for long as well.
        desk.lift()
        desk.cards.put(Desk.reader) { key.link() }
        desk.inbox.add(.reader(.changed(ReaderStatus(name: Desk.reader, hasCard: true, isMute: true))))
        desk.inbox.add(.reader(.changed(ReaderStatus(name: Desk.reader, hasCard: true, atr: Desk.contactless))))
        try expect(desk.ask(on: channel, CTAP.register())?.payload, is: [0x2F])
        // Another program's reset changes nothing.
        desk.inbox.add(.reader(.changed(ReaderStatus(name: Desk.reader, hasCard: true, atr: [0x3B, 0x00]))))
        try expect(desk.ask(on: channel, CTAP.register())?.payload, is: [0x2F])
        #expect(key.state.fido.credentials.isEmpty)
        #expect(desk.waits.allSatisfy { $0 == lift })
    }

    @Test("to choose a key uses nothing up")
    func selection() throws {
        let (desk, _, channel) = try Desk.withKey()
        try expect(desk.ask(on: channel, CTAP.select)?.payload, is: [0])
        try expect(desk.ask(on: channel, CTAP.register(proof: []))?.payload, is: [CTAPProtocol.Status.pinNotSet])
        try expect(desk.ask(on: channel, CTAP.signIn(proof: []))?.payload, is: [CTAPProtocol.Status.pinNotSet])
        try expect(desk.ask(on: channel, CTAP.register())?.payload.first, is: 0)
        expect(desk.waits, is: [])
        try expect(desk.ask(on: channel, [0x07])?.payload, is: [0x2F])
    }

    @Test("U2F: the program repeats its message until the card is laid down")
    func u2f() throws {
        let desk = Desk()
        let key = try VirtualKey.new()
        let channel = try desk.channel()
        let register = try CTAP.u2f(1, 3, CTAP.u2fRegister)
        for _ in 0..<5 {
            try expect(desk.ask(.msg, on: channel, register)?.payload, is: [0x69, 0x85])
            desk.pass(.milliseconds(200))
        }
        expect(desk.events, is: [.waiting(.card, for: .registerU2F)])
        // CANCEL is for CTAP2 only.
        try desk.send(.msg, on: channel, register)
        try desk.send(.cancel, on: channel)
        #expect(try desk.messages(channel).allSatisfy { $0.command == .keepalive })
        desk.pass(.seconds(1))
        try expect(desk.messages(channel).last?.payload, is: [0x69, 0x85])
        desk.lay(key)
        let made = try #require(try desk.ask(.msg, on: channel, register))
        #expect(made.payload.first == 5 && made.payload.suffix(2) == [0x90, 0])
        #expect(desk.events.contains(.waitEnded))
        let handle = Array(made.payload[67..<(67 + Int(made.payload[66]))])
        let data = CTAP.u2fRegister + [UInt8(handle.count)] + handle
        // The credential is known without anybody being there.
        try expect(desk.ask(.msg, on: channel, try CTAP.u2f(2, 7, data))?.payload, is: [0x69, 0x85])
        // P1 08 asks for a signature without a touch; it needs a card that is laid down as well.
        for p1: UInt8 in [3, 8] {
            try expect(desk.ask(.msg, on: channel, try CTAP.u2f(2, p1, data))?.payload, is: [0x69, 0x85])
        }
        expect(desk.waits.last, is: lift)
        desk.lift()
        desk.lay(key)
        try expect(desk.ask(.msg, on: channel, try CTAP.u2f(2, 3, data))?.payload.suffix(2), is: [0x90, 0])
        // A program that gives up is noticed.
        try expect(desk.ask(.msg, on: channel, try CTAP.u2f(2, 3, data))?.payload, is: [0x69, 0x85])
        desk.pass(.seconds(3))
        expect(desk.events.last, is: .waitEnded)
    }

    @Test("what is known without a card is answered at once, the rest waits")
    func memory() throws {
        let desk = Desk()
        let key = try VirtualKey.new()
        let channel = try desk.channel()
        try expect(desk.ask(.msg, on: channel, try CTAP.u2f(3))?.payload, is: [0x6F, 0])
        desk.lay(key)
        let info = try #require(try desk.ask(on: channel, CTAP.info)).payload
        desk.lift()
        let start = desk.now
        try expect(desk.ask(on: channel, CTAP.info)?.payload, is: info)
        try expect(desk.ask(.msg, on: channel, try CTAP.u2f(3))?.payload, is: Array("U2F_V2".utf8) + [0x90, 0])
        expect(start, is: desk.now)
        desk.lay(try VirtualKey.new(.arculusP71))
        desk.lift()
        try expect(desk.ask(.msg, on: channel, try CTAP.u2f(3))?.payload, is: [0x6D, 0])
        // What a reset may have changed is not told from memory.
        desk.user.state.withLock { $0.answer = true }
        desk.lay(try VirtualKey.new())
        try expect(desk.ask(on: channel, [0x07])?.payload, is: [0])
        desk.lift()
        try expect(desk.ask(on: channel, CTAP.info)?.payload, is: [0x2F])
    }

    @Test("getInfo says USB beside NFC, and is otherwise the card's")
    func transports() throws {
        let desk = Desk()
        let key = try VirtualKey.new(.arculusP71)
        desk.lay(key)
        let channel = try desk.channel()
        let told = try #require(try desk.ask(on: channel, CTAP.info)).payload
        let map = try #require(try CBOR(decoding: Array(told.dropFirst())).map)
        expect(map[9], is: ["nfc", "usb"])
        var own = map
        own[9] = ["nfc"]
        expect(CardDescription.bridged([0] + CBOR.map(own).encoded), is: told)
        for odd: [UInt8] in [
            [], [1], [0], [0, 0xFF], [0, 0x01], [0, 0xBF, 0xFF], [0, 0xA0], [0, 0xA1, 0x09, 0x80, 0x00],
        ] {
            expect(CardDescription.bridged(odd), is: odd)
        }
        expect(CardDescription.bridged([0, 0xA1, 0x18, 0x09, 0x80]), is: [0, 0xA1, 0x18, 0x09, 0x80])
    }

    @Test("the card's own count of presence: its refusal asks for the card to be lifted, and the request is sent again")
    func ownPresence() throws {
        for refusal: [UInt8] in [[0x3B, 0x90, 0x00], [0x69, 0x85]] {
            let desk = Desk()
            let log = ScriptedLink.Log()
            let maker: Desk.Cards.Maker = {
                ScriptedLink(atr: Desk.contactless, log: log) { command in
                    switch (command[1], command.count) {
                    case (0xA4, _): Array("FIDO_2_0".utf8) + [0x90, 0]
                    case (0x10, ..<8): [0, 0xA0, 0x90, 0]
                    default: log.commands.count(where: { $0.count > 20 }) > 1 ? [0, 0xA0, 0x90, 0] : refusal
                    }
                }
            }
            desk.lay(Desk.reader, maker)
            let channel = try desk.channel()
            let answer = try desk.ask(on: channel, CTAP.register()) { round in
                if round == 3 { expect(desk.waits, is: [lift]); desk.lift() }
                if round == 4 { desk.lay(Desk.reader, maker) }
            }
            expect(answer?.payload, is: [0, 0xA0])
            #expect(!log.lines.contains { $0.hasPrefix("reset") })
        }
    }

    @Test("other refusals are the program's", arguments: [0x27, 0x2F] as [UInt8])
    func refusals(_ status: UInt8) throws {
        let desk = Desk()
        desk.lay {
            ScriptedLink(atr: Desk.contactless) { command in
                switch (command[1], command.count) {
                case (0xA4, _): Array("FIDO_2_0".utf8) + [0x90, 0]
                case (0x10, ..<8): [0, 0xA0, 0x90, 0]
                default: [status, 0x90, 0]
                }
            }
        }
        let channel = try desk.channel()
        try expect(desk.ask(on: channel, CTAP.register())?.payload, is: [status])
        try expect(desk.ask(on: channel, CTAP.register())?.payload, is: [0x2F])
        expect(desk.waits, is: [lift])
    }

    @Test("a card with contacts: yes, no, and silence")
    func contact() throws {
        let desk = Desk()
        let key = try VirtualKey.new()
        desk.lay(atr: Desk.contact) { key.link() }
        let channel = try desk.channel()
        try expect(desk.ask(on: channel, CTAP.register())?.payload, is: [0x2F])
        expect(desk.waits, is: [.confirmation(reader: Desk.reader)])
        expect(desk.user.state.withLock { $0.withdrawn }, is: 1)
        try expect(desk.ask(on: channel, CTAP.register()) { if $0 == 3 { desk.user.say(false) } }?.payload, is: [0x27])
        #expect(key.state.fido.credentials.isEmpty)
        let made = try desk.ask(on: channel, CTAP.register()) { if $0 == 3 { desk.user.say(true) } }
        expect(made?.payload.first, is: 0)
        // One yes, one ceremony, also for the same message.
        try expect(desk.ask(on: channel, CTAP.register())?.payload, is: [0x2F])
        expect(desk.user.asked.count, is: 4)
        // What only reads is not confirmed.
        try expect(desk.ask(on: channel, CTAP.info)?.payload.first, is: 0)
        try expect(desk.ask(on: channel, CTAP.pin(1))?.payload, is: [CTAPProtocol.Status.pinNotSet])
        expect(desk.user.asked.count, is: 4)
        desk.user.state.withLock { $0.answer = true }
        try expect(desk.ask(on: channel, CTAP.select)?.payload, is: [0])
        var settings = BridgeSettings()
        settings.confirms = false
        let trusting = Desk(settings)
        trusting.lay(atr: Desk.contact) { key.link() }
        try expect(trusting.ask(on: try trusting.channel(), CTAP.register())?.payload.first, is: 0)
    }

    @Test("to delete everything is asked for, also with a card that was just laid down")
    func reset() throws {
        let (desk, key, channel) = try Desk.withKey()
        try expect(desk.ask(on: channel, CTAP.register(isResident: true))?.payload.first, is: 0)
        desk.lift()
        desk.lay(key)
        try expect(desk.ask(on: channel, [0x07]) { if $0 == 2 { desk.user.say(false) } }?.payload, is: [0x27])
        try expect(desk.ask(on: channel, [0x07])?.payload, is: [0x2F])
        #expect(desk.user.asked == [.reset, .reset] && key.state.fido.credentials.count == 1)
        try expect(desk.ask(on: channel, [0x07]) { if $0 == 2 { desk.user.say(true) } }?.payload, is: [0])
        #expect(key.state.fido.credentials.isEmpty)
    }

    @Test("the answer to a withdrawn question does not count")
    func late() throws {
        let desk = Desk()
        let key = try VirtualKey.new()
        desk.lay(atr: Desk.contact) { key.link() }
        let channel = try desk.channel()
        try desk.send(.cbor, on: channel, CTAP.register())
        try desk.send(.cancel, on: channel)
        desk.user.say(true)
        desk.poll()
        try expect(desk.messages(channel).last?.payload, is: [0x2D])
        try expect(desk.ask(on: channel, CTAP.register("other.example"))?.payload, is: [0x2F])
        try desk.send(.cbor, on: channel, CTAP.register())
        desk.lift()
        desk.user.say(true)
        desk.lay(atr: Desk.contact) { key.link() }
        desk.pass(.seconds(1))
        #expect(desk.authenticator.question?.answer == nil && desk.user.asked.count == 4)
        #expect(key.state.fido.credentials.isEmpty)
    }

    @Test("U2F with contacts: the question stays while the program repeats its message")
    func u2fContact() throws {
        let desk = Desk()
        let key = try VirtualKey.new()
        desk.lay(atr: Desk.contact) { key.link() }
        let channel = try desk.channel()
        let register = try CTAP.u2f(1, 3, CTAP.u2fRegister)
        for _ in 0..<4 { try expect(desk.ask(.msg, on: channel, register)?.payload, is: [0x69, 0x85]) }
        expect(desk.user.asked, is: [.registerU2F])
        desk.user.say(true)
        try expect(desk.ask(.msg, on: channel, register)?.payload.suffix(2), is: [0x90, 0])
        try expect(desk.ask(.msg, on: channel, register)?.payload, is: [0x69, 0x85])
        desk.user.say(false)
        try expect(desk.ask(.msg, on: channel, register)?.payload, is: [0x69, 0x85])
        expect(desk.user.asked.count, is: 2)
        desk.pass(.seconds(40))
        desk.pass(.seconds(1))
        #expect(desk.authenticator.question == nil)
    }
}
