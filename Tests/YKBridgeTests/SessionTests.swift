// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKFIDO
import YKHardware
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKBridge

/// Sessions with a card: PINs, enumerations, other programs, and cards that leave.
@Suite(.serialized) struct SessionTests {
    /// A link that counts its transactions.
    final class Counted: ForwardingCardLink {
        final class Count: Sendable {
            let state = Mutex((begun: 0, ended: 0, resets: 0, closed: 0))
            var value: (begun: Int, ended: Int, resets: Int, closed: Int) { state.withLock { $0 } }
        }
        let link: any CardLink
        private let count: Count
        init(_ link: any CardLink, _ count: Count) { (self.link, self.count) = (link, count) }
        func begin(deadline: Deadline) throws(LinkError) -> Bool {
            count.state.withLock { $0.begun += 1 }
            _ = try link.begin(deadline: deadline)
            // Another program may have used the card in between.
            return true
        }
        func end() {
            count.state.withLock { $0.ended += 1 }
            link.end()
        }
        func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) {
            count.state.withLock { $0.resets += 1 }
            try link.reset(kind, deadline: deadline)
        }
        func close() {
            count.state.withLock { $0.closed += 1 }
            link.close()
        }
    }

    /// A program's device: the bridge in the same process. Whoever reads moves the clock on.
    final class Program: ReportLink {
        let identity = ReportIdentity(path: "bridge")
        private let desk: Desk
        private let each: () -> Void
        init(_ desk: Desk, each: @escaping () -> Void = {}) { (self.desk, self.each) = (desk, each) }
        func write(_ report: [UInt8], deadline: Deadline) throws(LinkError) { desk.write(report) }
        func read(deadline: Deadline) throws(LinkError) -> [UInt8] {
            for _ in 0..<10_000 {
                if let report = desk.read() { return report }
                desk.pass(.milliseconds(50))
                each()
            }
            throw .timedOut("a report")
        }
        func close() {}
    }

    private func service(_ desk: Desk, pin: String?, each: @escaping () -> Void = {}) async throws -> FIDOService {
        nonisolated(unsafe) let program: any ReportLink = Program(desk, each: each)
        return try await FIDOService.open(
            hid: program, environment: .instant, interaction: FIDOInteraction(pin: { _ in pin.map { secret($0) } }))
    }

    private func registration(_ user: UInt8, resident: Bool = true) -> RegistrationRequest {
        var request = RegistrationRequest(
            clientDataHash: [UInt8](repeating: 1, count: 32), relyingParty: RelyingParty(id: "example.com"),
            user: FIDOUser(id: [user], name: "alice"))
        request.isResident = resident
        return request
    }

    @Test("from the PIN to the assertions, the card is one transaction, and free between ceremonies")
    func transactions() async throws {
        let desk = Desk()
        let key = try VirtualKey.new()
        let count = Counted.Count()
        func lay() {
            desk.lift()
            key.layOnReader()
            desk.lay { Counted(key.link(), count) }
        }
        lay()
        let fido = try await service(desk, pin: "123456") {
            if desk.waits.last == .lift(reader: Desk.reader), desk.authenticator.shown != nil { lay() }
        }
        try await fido.setPIN(secret("123456"))
        for user: UInt8 in 1...3 { _ = try await fido.register(registration(user)) }
        let before = count.value
        let assertions = try await fido.assert(
            AssertionRequest(rpID: "example.com", clientDataHash: [UInt8](repeating: 2, count: 32)))
        expect(assertions.count, is: 3)
        // getInfo or the retries, and the ceremony.
        #expect(count.value.begun - before.begun <= 6)
        try await expect(fido.pinRetries().count, is: 8)
        expect(count.value.resets, is: 0)
        desk.pass(.seconds(11))
        #expect(desk.authenticator.hold == nil)
        #expect(count.value.begun == count.value.ended || count.value.begun < count.value.ended)
        await fido.close()
    }

    @Test("a PIN without its key agreement is not sent: the card would count a wrong one")
    func strayPIN() throws {
        let (desk, key, channel) = try Desk.withKey()
        try expect(desk.ask(on: channel, CTAP.wrongPIN)?.payload, is: [0x33])
        try expect(desk.ask(on: channel, CTAP.pin(2))?.payload.first, is: 0)
        desk.pass(.seconds(11))
        try expect(desk.ask(on: channel, CTAP.wrongPIN)?.payload, is: [0x33])
        try expect(desk.ask(on: channel, CTAP.pin(2))?.payload.first, is: 0)
        desk.lift()
        desk.lay(key)
        try expect(desk.ask(on: channel, CTAP.wrongPIN)?.payload, is: [0x33])
        expect(key.state.fido.pinRetries, is: 8)
    }

    @Test("a session with a PIN begins with a card that was laid down for it")
    func agreement() throws {
        let (desk, key, channel) = try Desk.withKey()
        try expect(desk.ask(on: channel, CTAP.register())?.payload.first, is: 0)
        let answer = try desk.ask(on: channel, CTAP.pin(2)) { round in
            if round == 2 {
                expect(desk.waits, is: [.lift(reader: Desk.reader)])
                desk.lift()
                desk.lay(key)
            }
        }
        expect(answer?.payload.first, is: 0)
        // A second key agreement in the session asks for nothing.
        try expect(desk.ask(on: channel, CTAP.pin(2))?.payload.first, is: 0)
    }

    @Test("an enumeration is not continued in another session")
    func enumeration() throws {
        let (desk, key, channel) = try Desk.withKey()
        try expect(desk.ask(on: channel, CTAP.next)?.payload, is: [0x30])
        for _ in 0..<2 {
            try expect(desk.ask(on: channel, CTAP.register(isResident: true))?.payload.first, is: 0)
            desk.lift()
            desk.lay(key)
            _ = try desk.ask(on: channel, CTAP.select)
        }
        try expect(desk.ask(on: channel, CTAP.signIn(up: false))?.payload.first, is: 0)
        desk.lift()
        try expect(desk.ask(on: channel, CTAP.next)?.payload, is: [0x2F])
        desk.lay(key)
        try expect(desk.ask(on: channel, CTAP.next)?.payload, is: [0x30])
        for subcommand: UInt64 in [3, 5] {
            try expect(desk.ask(on: channel, CTAP.message(0x0A, [1: .unsigned(subcommand)]))?.payload, is: [0x30])
        }
    }

    @Test("a card that leaves in a ceremony is asked back, and what relies on nothing is sent again")
    func away() throws {
        let desk = Desk()
        let key = try VirtualKey.new()
        desk.lay(key, faults: try FaultPlan(parsing: "at 3: remove"))
        let channel = try desk.channel()
        let answer = try desk.ask(on: channel, CTAP.register()) { round in
            if round == 1 { desk.lift() }
            if round == 8 { desk.lay(key) }
        }
        expect(answer?.payload.first, is: 0)
        expect(desk.waits, is: [.cardBack])
        expect(desk.cards.connections, is: 2)
    }

    @Test("a card that does not come back ends the ceremony in time")
    func gone() throws {
        let desk = Desk()
        desk.lay(try VirtualKey.new(), faults: try FaultPlan(parsing: "at 3: remove"))
        let channel = try desk.channel()
        let start = desk.now
        try expect(desk.ask(on: channel, CTAP.register()) { if $0 == 1 { desk.lift() } }?.payload, is: [0x2F])
        #expect(start.duration(to: desk.now) <= .seconds(31))
    }

    @Test("a ceremony with a token is not sent again")
    func token() throws {
        let desk = Desk()
        let key = try VirtualKey.new()
        desk.lay(key, faults: try FaultPlan(parsing: "on 8010: remove"))
        desk.lift()
        desk.lay(key, faults: try FaultPlan(parsing: "at 4: remove"))
        let channel = try desk.channel()
        let proof = [UInt8](repeating: 1, count: 16)
        try expect(desk.ask(on: channel, CTAP.register(proof: proof))?.payload, is: [0x33])
        #expect(key.state.fido.credentials.isEmpty)
    }

    @Test("another program's reset: what relies on nothing is sent again, once the user is there")
    func reset() throws {
        let desk = Desk()
        let key = try VirtualKey.new()
        desk.lay(key, faults: try FaultPlan(parsing: "at 3: reset"))
        let channel = try desk.channel()
        try expect(desk.ask(on: channel, CTAP.pin(1))?.payload, is: [CTAPProtocol.Status.pinNotSet])
        desk.lift()
        desk.lay(key, faults: try FaultPlan(parsing: "at 3: reset"))
        let answer = try desk.ask(on: channel, CTAP.register()) { round in
            if round == 2 {
                desk.lift()
                desk.lay(key)
            }
        }
        expect(answer?.payload.first, is: 0)
        expect(desk.waits, is: [.lift(reader: Desk.reader), .cardBack])
    }

    @Test("another program that holds the card is waited for, at most half a minute")
    func otherProgram() throws {
        let desk = Desk()
        let key = try VirtualKey.new()
        desk.lay(key)
        let other = key.link()
        _ = try other.begin(deadline: .after(.seconds(1)))
        let channel = try desk.channel()
        desk.authenticator.blockedUntil = desk.now.advanced(by: .milliseconds(300))
        let answer = try desk.ask(on: channel, CTAP.register()) { if $0 == 2 { other.end() } }
        expect(answer?.payload.first, is: 0)
        expect(desk.waits, is: [.otherProgram(reader: Desk.reader)])
    }

    @Test("a card that stays busy", .timeLimit(.minutes(15)))
    func busy() throws {
        let desk = Desk()
        desk.lay {
            ScriptedLink(atr: Desk.contactless) { command throws(LinkError) -> [UInt8] in
                if command.count > 20 { throw .busy(reader: Desk.reader, holders: []) }
                return command[1] == 0xA4 ? Array("FIDO_2_0".utf8) + [0x90, 0] : [0, 0xA0, 0x90, 0]
            }
        }
        let channel = try desk.channel()
        let start = desk.now
        try expect(desk.ask(on: channel, CTAP.register())?.payload, is: [6])
        #expect(start.duration(to: desk.now) <= .seconds(32))
    }

    @Test("two readers: the card that was laid down last, and the one of a session until it ends")
    func twoReaders() throws {
        let desk = Desk()
        let (first, second) = (try VirtualKey.new(serial: 1), try VirtualKey.new(serial: 2))
        desk.inbox.add(.reader(.added(ReaderStatus(name: "reader 01", hasCard: false))))
        desk.lay(first)
        let channel = try desk.channel()
        try expect(desk.ask(on: channel, CTAP.pin(2))?.payload.first, is: 0)
        second.layOnReader()
        desk.lay("reader 01") { second.link() }
        expect(desk.authenticator.usable?.reader, is: Desk.reader)
        desk.pass(.seconds(11))
        try expect(desk.ask(on: channel, CTAP.register(isResident: true))?.payload.first, is: 0)
        #expect(first.state.fido.credentials.isEmpty && !second.state.fido.credentials.isEmpty)
        desk.lift("reader 01")
        try expect(desk.ask(on: channel, CTAP.register(isResident: true))?.payload.first, is: 0)
        #expect(!first.state.fido.credentials.isEmpty)
        var settings = BridgeSettings()
        settings.reader = "01"
        let chosen = Desk(settings)
        chosen.lay(first)
        #expect(chosen.authenticator.slots.isEmpty)
    }

    @Test("cards that are no FIDO cards, or cannot be opened")
    func foreign() throws {
        let desk = Desk()
        desk.lay(try VirtualKey.new(.openPGP))
        expect(desk.events, is: [.cardForeign(reader: Desk.reader)])
        desk.lift()
        let failures = Mutex(3)
        let key = try VirtualKey.new()
        key.layOnReader()
        desk.lay { () throws(LinkError) -> any CardLink in
            if failures.withLock({
                $0 -= 1; return $0 >= 0
            }) {
                throw .busy(reader: Desk.reader, holders: [])
            }
            return key.link()
        }
        for _ in 0..<5 { desk.pass(.seconds(1)) }
        #expect(desk.authenticator.usable != nil)
        expect(
            desk.events.dropFirst(),
            is: [
                .cardFailed(reader: Desk.reader, .busy(reader: Desk.reader, holders: [])),
                .cardReady(reader: Desk.reader, isContactless: true),
            ])
        desk.lift()
        desk.lay { () throws(LinkError) -> any CardLink in throw .unresponsive("x") }
        for _ in 0..<40 { desk.pass(.seconds(1)) }
        expect(desk.authenticator.slots.first?.state, is: .foreign)
        // A card that is gone before it was opened.
        desk.work.isHeld = true
        desk.lift()
        desk.lay(key)
        desk.lift()
        desk.work.go()
        desk.poll()
        #expect(desk.authenticator.slots.isEmpty)
    }

    @Test("status words of the card as CTAP2 statuses")
    func statusWords() throws {
        for (word, status) in [
            ([0x6D, 0x00], 0x01), ([0x6E, 0x00], 0x01), ([0x67, 0x00], 0x03), ([0x69, 0x82], 0x7F),
            ([0x6F, 0x00], 0x7F),
            ([0x69, 0x85], 0x3B), ([0x90, 0x00], 0x7F), ([0x90], 0x7F), ([], 0x7F),
        ] as [([UInt8], UInt8)] {
            let desk = Desk()
            desk.lay {
                ScriptedLink(atr: Desk.contactless) { command in
                    if command[1] == 0xA4 { return Array("FIDO_2_0".utf8) + [0x90, 0] }
                    return command.contains(0x09) ? word : [0, 0xA0, 0x90, 0]
                }
            }
            let channel = try desk.channel()
            let message: [UInt8] = [0x0D, 0x09]
            try expect(desk.ask(on: channel, message)?.payload, is: [status])
        }
    }

    @Test("an answer longer than any message, and an endless reply")
    func endless() throws {
        let desk = Desk()
        desk.lay {
            ScriptedLink(atr: Desk.contactless) { command in
                switch (command[1], command.count) {
                case (0xA4, _): Array("FIDO_2_0".utf8) + [0x90, 0]
                case (0x10, ..<8): [0, 0xA0, 0x90, 0]
                case (0x10, _): [UInt8](repeating: 0, count: 8000) + [0x90, 0]
                default: [0x6F, 0x00]
                }
            }
        }
        let channel = try desk.channel()
        try expect(desk.ask(on: channel, CTAP.register())?.payload, is: [0x7F])
        try expect(desk.ask(on: channel, CTAP.register())?.payload, is: [0x2F])
        let more = Desk()
        more.lay {
            ScriptedLink(atr: Desk.contactless) { command in
                switch (command[1], command.count) {
                case (0xA4, _): Array("FIDO_2_0".utf8) + [0x90, 0]
                case (0x10, ..<8): [0, 0xA0, 0x90, 0]
                default: [1, 2, 3, 0x61, 0xFF]
                }
            }
        }
        try expect(more.ask(on: try more.channel(), CTAP.register())?.payload, is: [0x7F])
    }

    @Test("long answers come in parts, P1 80 is optional, and cards without extended length get chains")
    func forms() throws {
        let desk = Desk()
        let log = ScriptedLink.Log()
        let body = [UInt8](repeating: 0x55, count: 700)
        desk.lay {
            nonisolated(unsafe) var rest: [UInt8] = []
            return ScriptedLink(atr: Desk.contactless, log: log) { command in
                switch (command[0], command[1], command[2]) {
                case (_, 0xA4, _): return Array("FIDO_2_0".utf8) + [0x90, 0]
                case (_, 0x10, 0x80): return [0x6A, 0x86]
                case (0x90, 0x10, _): return [0x90, 0]
                case (_, 0x10, _): rest = [0] + body
                default: break
                }
                let part = Array(rest.prefix(256))
                rest.removeFirst(part.count)
                return part + (rest.isEmpty ? [0x90, 0] : [0x61, UInt8(truncatingIfNeeded: min(rest.count, 255))])
            }
        }
        let channel = try desk.channel()
        let long = CTAP.signIn(credential: [UInt8](repeating: 9, count: 500))
        try expect(desk.ask(on: channel, long)?.payload, is: [0] + body)
        #expect(log.commands.contains { $0.prefix(2) == [0x90, 0x10] })
    }

    @Test("a connection is kept while the card is there, and the card never reset")
    func kept() throws {
        let desk = Desk()
        let key = try VirtualKey.new()
        let count = Counted.Count()
        key.layOnReader()
        desk.lay { Counted(key.link(), count) }
        let channel = try desk.channel()
        for _ in 0..<5 { _ = try desk.ask(on: channel, CTAP.register()) }
        desk.pass(.seconds(300))
        expect(desk.cards.connections, is: 1)
        #expect(count.value.resets == 0 && count.value.closed == 0)
        desk.lift()
        #expect(count.value.closed > 0 && count.value.resets == 0)
    }
}
