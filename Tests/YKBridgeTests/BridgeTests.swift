// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing
import YKFIDO
import YKHardware
import YKInteraction
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKVirtualKeyHost
import YKWire

@testable import YKBridge

/// The whole bridge, with the kernel played by the other end of a socket pair.
@Suite(.serialized) struct BridgeTests {
    /// One virtual key in one reader.
    final class OneReader: BridgeReaders {
        let key: VirtualKey
        let atr: [UInt8]
        init(_ key: VirtualKey, atr: [UInt8] = Desk.contactless) { (self.key, self.atr) = (key, atr) }
        func events() -> AsyncStream<ReaderEvent> {
            AsyncStream { stream in
                stream.yield(.added(ReaderStatus(name: "r", hasCard: false)))
                stream.yield(.enumerated)
                stream.yield(.changed(ReaderStatus(name: "r", hasCard: true, atr: atr)))
            }
        }
        func connect(reader: String, deadline: Deadline) throws(LinkError) -> sending any CardLink { key.link() }
    }

    private static func output(_ report: [UInt8]) -> [UInt8] {
        let data = [0] + report
        return [6, 0, 0, 0] + data + [UInt8](repeating: 0, count: 4096 - data.count) + [65, 0, 1]
    }

    private func receive(_ socket: Int32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = recv(socket, &bytes, bytes.count, 0)
        return Array(bytes.prefix(max(0, count)))
    }

    /// A bridge at work on a thread of its own.
    private final class RunningBridge: Sendable {
        private let ended = Semaphore()
        private let failure = Mutex<(any Error)?>(nil)

        init(_ run: @escaping @Sendable () throws -> Void) throws {
            let isStarted = SystemThread.start {
                do { try run() } catch { self.failure.withLock { $0 = error } }
                self.ended.post()
            }
            try #require(isStarted)
        }

        func end() throws {
            #expect(ended.wait(milliseconds: 60_000))
            if let failure = failure.withLock({ $0 }) { throw failure }
        }
    }

    // The sockets block, and threads of Swift's pool are few.
    @Test("a key on a reader is a device, answers, and leaves with the bridge")
    func session() async throws { try await onThread { try followSession() } }

    private func followSession() throws {
        var ends: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
        let (served, own) = (ends[0], ends[1])
        defer { close(own) }
        var limit = timeval(tv_sec: 900, tv_usec: 0)
        setsockopt(own, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let key = try VirtualKey.new()
        key.layOnReader()
        let stop = Cancellation()
        let events = Mutex<[BridgeEvent]>([])
        let running = try RunningBridge {
            var settings = BridgeSettings()
            settings.owner = "alice"
            let bridge = Bridge(
                settings, readers: OneReader(key), person: NoPerson(),
                environment: ServiceEnvironment(timeout: .seconds(600), cancellation: stop),
                report: { event in events.withLock { $0.append(event) } }, open: { (served, 0) })
            try bridge.run()
        }
        let created = receive(own)
        try #require(created.count >= 270)
        expect(String(decoding: created[4..<29], as: UTF8.self), is: "ykit bridge to smart card")
        expect(String(decoding: created[196..<201], as: UTF8.self), is: "alice")
        expect(Array(created[264..<270]), is: [0x09, 0x12, 0, 0, 0x6B, 0x79])
        let reply = try ask(own, .initialize, .broadcast, [1, 2, 3, 4, 5, 6, 7, 8]).payload
        let channel = CTAPHID.Channel(rawValue: reply[8..<12].reduce(0) { $0 << 8 | UInt32($1) })
        let answer = try ask(own, .cbor, channel, CTAP.register())
        expect(answer.payload.first, is: 0)
        // The last program closes the node.
        _ = send(own, [5, 0, 0, 0], 4, Int32(MSG_NOSIGNAL))
        stop.cancel()
        try running.end()
        let seen = events.withLock { $0 }
        #expect(seen.first == .cardReady(reader: "r", isContactless: true) && seen.last == .removed)
    }

    /// The figures of the article: with YKIT_FIGURES=1, a ceremony of three messages through the bridge, and with the card
    /// alone.
    @Test("what the bridge adds to a ceremony", .enabled(if: getenv("YKIT_FIGURES") != nil))
    func figures() async throws { try await onThread { try measure() } }

    private func measure() throws {
        var ends: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
        let (served, own) = (ends[0], ends[1])
        defer { close(own) }
        let key = try VirtualKey.new()
        let stop = Cancellation()
        let running = try RunningBridge {
            var settings = BridgeSettings()
            settings.confirms = false
            let bridge = Bridge(
                settings, readers: OneReader(key, atr: Desk.contact), person: NoPerson(),
                environment: ServiceEnvironment(cancellation: stop), report: { _ in }, open: { (served, 0) })
            try bridge.run()
        }
        _ = receive(own)
        let messages = [CTAP.info, CTAP.pin(2), CTAP.register()]
        let channel = try ask(own, .initialize, .broadcast, [1, 2, 3, 4, 5, 6, 7, 8]).payload[8..<12]
        let number = CTAPHID.Channel(rawValue: channel.reduce(0) { $0 << 8 | UInt32($1) })
        let bridged = try (0..<50).map { _ in
            try ContinuousClock().measure { for message in messages { _ = try ask(own, .cbor, number, message) } }
        }
        stop.cancel()
        try running.end()
        let card = try CardFIDOLink(CardChannel(link: key.link()))
        let alone = try (0..<50).map { _ in
            try ContinuousClock().measure {
                for message in messages { _ = try card.call(.cbor, message, deadline: .after(.seconds(9))) { _ in } }
            }
        }
        print("bridged \(bridged.sorted()[25]), the card alone \(alone.sorted()[25])")
    }

    /// The answer to a message, after keepalives.
    private func ask(
        _ socket: Int32, _ command: CTAPHID.Command, _ channel: CTAPHID.Channel, _ payload: [UInt8]
    ) throws -> CTAPHID.Message {
        for report in try CTAPHID.Message(command, on: channel, payload).reports() {
            _ = send(socket, Self.output(report), 4103, Int32(MSG_NOSIGNAL))
        }
        var assembler = CTAPHID.Assembler(channel: channel)
        while true {
            let bytes = receive(socket)
            try #require(bytes.count == 70)
            if case .message(let message) = try assembler.add(Array(bytes.dropFirst(6))), message.command == command {
                return message
            }
        }
    }

    @Test("without uhid, or the permission to use it, nothing is bridged")
    func refused() throws {
        let stop = Cancellation()
        var settings = BridgeSettings()
        settings.staysPluggedIn = true
        let bridge = Bridge(
            settings, readers: OneReader(.demonstration()), person: NoPerson(),
            environment: ServiceEnvironment(cancellation: stop), report: { _ in }, open: { (-1, EACCES) })
        #expect(throws: UHIDError.denied(path: "/dev/uhid")) { try bridge.run() }
        stop.cancel()
        let idle = Bridge(
            BridgeSettings(), readers: OneReader(.demonstration()), person: NoPerson(),
            environment: ServiceEnvironment(cancellation: stop), report: { _ in }, open: { (-1, EACCES) })
        try idle.run()
    }
}
