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

/// A bridge, its readers, and a clock that goes on only when somebody waits.
final class Desk {
    static let reader = "reader 00"
    static let contactless: [UInt8] = [0x3B, 0x80, 0x80, 0x01, 0x01]
    static let contact: [UInt8] = ScriptedLink.yubiKey4

    let cards = Cards()
    let work = Work()
    let user = User()
    let inbox = BridgeInbox {}
    let authenticator: CardAuthenticator
    private var device: BridgedDevice
    private let log = Log()
    var now = ContinuousClock.now
    private var channels = 0

    /// What was reported.
    final class Log { var events: [BridgeEvent] = [] }

    /// What the readers hold.
    final class Cards: BridgeReaders {
        typealias Maker = @Sendable () throws(LinkError) -> any CardLink
        private let makers = Mutex<[String: Maker]>([:])
        private let opened = Mutex(0)

        var connections: Int { opened.withLock { $0 } }
        func put(_ reader: String, _ maker: Maker?) { makers.withLock { $0[reader] = maker } }
        func events() -> AsyncStream<ReaderEvent> { AsyncStream { $0.finish() } }
        func connect(reader: String, deadline: Deadline) throws(LinkError) -> sending any CardLink {
            guard let maker = makers.withLock({ $0[reader] }) else { throw .noCard(reader: reader) }
            opened.withLock { $0 += 1 }
            nonisolated(unsafe) let link = try maker()
            return link
        }
    }

    /// Work for the cards: done at once, or when the test says.
    final class Work: Sendable {
        private let state = Mutex<(isHeld: Bool, waiting: [@Sendable () -> Void])>((false, []))

        var isHeld: Bool {
            get { state.withLock { $0.isHeld } }
            set { state.withLock { $0.isHeld = newValue } }
        }
        func add(_ body: @escaping @Sendable () -> Void) {
            let isNow = state.withLock { state in
                if state.isHeld { state.waiting.append(body) }
                return !state.isHeld
            }
            if isNow { body() }
        }
        /// Does what waits.
        func go() {
            while true {
                let next = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
                guard let next else { return }
                next()
            }
        }
    }

    /// Whoever confirms: at once, or later.
    final class User: BridgePerson {
        struct State {
            var answer: Bool?
            var asked: [Ceremony] = []
            var withdrawn = 0
            var open: (@Sendable (Bool) -> Void)?
        }
        let state = Mutex(State())

        func ask(_ ceremony: Ceremony, reader: String, answer: @escaping @Sendable (Bool) -> Void) {
            let now = state.withLock { state in
                state.asked.append(ceremony)
                state.open = answer
                return state.answer
            }
            if let now { answer(now) }
        }
        func withdraw() { state.withLock { $0.withdrawn += 1 } }
        func say(_ yes: Bool) { state.withLock { $0.open }?(yes) }
        var asked: [Ceremony] { state.withLock { $0.asked } }
    }

    init(_ settings: BridgeSettings = BridgeSettings()) {
        let log = log
        let bench = CardBench(cards, .instant, work.add)
        authenticator = CardAuthenticator(settings, bench, inbox, user) { log.events.append($0) }
        device = BridgedDevice(authenticator)
        inbox.add(.reader(.added(ReaderStatus(name: Self.reader, hasCard: false))))
    }

    var events: [BridgeEvent] { log.events }
    var waits: [BridgeWait] {
        events.compactMap { if case .waiting(let wait, _) = $0 { wait } else { nil } }
    }
    var isWanted: Bool { !device.isUnplugged }

    // MARK: the user

    /// A desk with a new virtual key on the contactless reader, and a program's channel.
    static func withKey() throws -> (Desk, VirtualKey, CTAPHID.Channel) {
        let (desk, key) = (Desk(), try VirtualKey.new())
        desk.lay(key)
        return (desk, key, try desk.channel())
    }

    /// Puts a card into an empty reader.
    func lay(_ reader: String = reader, atr: [UInt8] = contactless, _ maker: @escaping Cards.Maker) {
        cards.put(reader, maker)
        inbox.add(.reader(.changed(ReaderStatus(name: reader, hasCard: true, atr: atr))))
        poll()
    }

    /// Lays a virtual key on the contactless reader, where it gets power.
    func lay(_ key: VirtualKey, faults: FaultPlan = FaultPlan()) {
        key.layOnReader()
        lay { faults.rules.isEmpty ? key.link() : FaultyLink(key.link(), plan: faults) }
    }

    func lift(_ reader: String = reader) {
        cards.put(reader, nil)
        inbox.add(.reader(.changed(ReaderStatus(name: reader, hasCard: false))))
        poll()
    }

    func pass(_ time: Duration) {
        now = now.advanced(by: time)
        poll()
    }

    func poll() { device.poll(at: now) }
    func close() { device.closed(at: now) }

    // MARK: the program

    func write(_ report: [UInt8]) { device.receive(report, at: now) }
    func read() -> [UInt8]? { device.next(at: now) }

    func send(_ command: CTAPHID.Command, on channel: CTAPHID.Channel, _ payload: [UInt8] = []) throws {
        for report in try CTAPHID.Message(command, on: channel, payload).reports() { write(report) }
    }

    /// The messages that have come for a channel; keepalives last only once in a row.
    func messages(_ channel: CTAPHID.Channel) throws -> [CTAPHID.Message] {
        var assembler = CTAPHID.Assembler(channel: channel)
        var found: [CTAPHID.Message] = []
        while let report = read() {
            if case .message(let message) = try assembler.add(report), found.last != message { found.append(message) }
        }
        return found
    }

    func channel() throws -> CTAPHID.Channel {
        let nonce = [UInt8](repeating: 7, count: 8)
        try send(.initialize, on: .broadcast, nonce)
        let reply = try #require(try messages(.broadcast).last)
        #expect(reply.payload.count == 17 && Array(reply.payload.prefix(8)) == nonce)
        return CTAPHID.Channel(rawValue: reply.payload[8..<12].reduce(0) { $0 << 8 | UInt32($1) })
    }

    /// Sends a message and waits for its answer; without one, `nil`, at the latest after five minutes.
    func ask(
        _ command: CTAPHID.Command = .cbor, on channel: CTAPHID.Channel, _ payload: [UInt8],
        each: (Int) -> Void = { _ in }
    ) throws -> CTAPHID.Message? {
        try send(command, on: channel, payload)
        for round in 0..<3000 {
            if let answer = try messages(channel).last(where: { $0.command != .keepalive }) { return answer }
            each(round)
            pass(.milliseconds(100))
        }
        return nil
    }
}

// MARK: messages

enum CTAP {
    static func message(_ command: UInt8, _ map: CBOR.Map) -> [UInt8] { [command] + CBOR.map(map).encoded }

    static func register(
        _ rp: String = "example.com", isResident: Bool = false, proof: [UInt8]? = nil
    ) -> [UInt8] {
        var map = CBOR.Map()
        map[1] = .bytes([UInt8](repeating: 0x5A, count: 32))
        map[2] = ["id": .text(rp)]
        map[3] = ["id": .bytes([1]), "name": "alice"]
        map[4] = [["alg": .int(-7), "type": "public-key"]]
        if isResident { map[7] = ["rk": .bool(true)] }
        if let proof {
            map[8] = .bytes(proof)
            map[9] = 1
        }
        return message(0x01, map)
    }

    static func signIn(
        _ rp: String = "example.com", credential: [UInt8]? = nil, up: Bool? = nil, proof: [UInt8]? = nil
    ) -> [UInt8] {
        var map = CBOR.Map()
        map[1] = .text(rp)
        map[2] = .bytes([UInt8](repeating: 0x5A, count: 32))
        if let credential { map[3] = [["id": .bytes(credential), "type": "public-key"]] }
        if let up { map[5] = ["up": .bool(up)] }
        if let proof {
            map[6] = .bytes(proof)
            map[7] = 1
        }
        return message(0x02, map)
    }

    static func pin(_ subcommand: UInt64, _ version: UInt64 = 1) -> [UInt8] {
        message(0x06, [1: .unsigned(version), 2: .unsigned(subcommand)])
    }

    /// A PIN encrypted for a key agreement that nobody made.
    static let wrongPIN: [UInt8] = message(
        0x06,
        [
            1: 1, 2: 5,
            3: [
                1: 2, 3: -25, -1: 1, -2: .bytes([UInt8](repeating: 1, count: 32)),
                -3: .bytes([UInt8](repeating: 2, count: 32)),
            ], 6: .bytes([UInt8](repeating: 3, count: 16)),
        ])

    static let info: [UInt8] = [0x04]
    static let next: [UInt8] = [0x08]
    static let select: [UInt8] = [0x0B]

    static func u2f(_ ins: UInt8, _ p1: UInt8 = 0, _ data: [UInt8] = []) throws -> [UInt8] {
        try APDU(ins: ins, p1: p1, data: data).encoded(.extended)
    }

    static let u2fRegister = [UInt8](repeating: 0x11, count: 64)

    /// The credential in the answer to a registration.
    static func credential(_ answer: [UInt8]) throws -> [UInt8] {
        let data = try #require(try CBOR(decoding: Array(answer.dropFirst())).map?[2]?.bytes)
        let length = Int(data[53]) << 8 | Int(data[54])
        return Array(data[55..<(55 + length)])
    }
}
