// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKInteraction
import YKPIV
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKVirtualKeyHost
import YKWire

@testable import YKBridge

/// Readers, far ends and keys that do not behave.
@Suite(.serialized) struct HostileCardTests {
    private func opener(_ key: VirtualKey) -> @Sendable () throws -> CardService {
        { try CardService(CardChannel(link: key.link(), environment: .instant)) }
    }

    private func channel(_ card: FarCard) -> sending CardChannel {
        nonisolated(unsafe) let link: any CardLink = card
        return CardChannel(link: link, environment: ServiceEnvironment(timeout: .seconds(600)))
    }

    @Test("the connection is cut while the user is asked: nothing is signed, the card is gone and the key free")
    func cut() async throws {
        let key = try VirtualKey.new()
        let user = NearUser(nil)
        let bench = try RemoteCardBench(user)
        let result = try await bench.run([.piv], opener(key)) { card in
            let service = try CardService(channel(card))
            _ = try await service.select(.piv)
            let command = try APDU(decoding: try Hex.decode("0087119e087c0682008102aabb00"))
            let waiting = Task { try await service.send(command) }
            while user.asked.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            bench.cut()
            await #expect(throws: CardError.self) { _ = try await waiting.value }
        }
        #expect(throws: RemoteError.lost) { try result.get() }
        expect(user.withdrawn, is: 1)
        #expect(bench.events.contains(.withdrawn(.card(.pivKey(slot: 0x9E)))))
        // Another program is not locked out.
        _ = try await PIVService.open(CardChannel(link: key.link(), environment: .instant))
    }

    @Test("without an answer in time it is no, and after five nobody is asked any more")
    func silence() async throws {
        let key = VirtualKey.demonstration()
        let bench = try RemoteCardBench(NearUser(nil))
        try await bench.run([.oath], opener(key), questionTime: .milliseconds(10)) { card in
            let service = try CardService(channel(card))
            _ = try await service.select(.oath)
            let all = try APDU(decoding: try Hex.decode("00a400010a7408000000000000000100"))
            for _ in 0..<7 { try await expect(service.send(all).status, is: .conditionsNotSatisfied) }
        }
        expect(bench.user.asked.count, is: 5)
        expect(bench.events.filter { $0 == .refused(.card(.allCodes), .tooManyQuestions) }.count, is: 2)
    }

    @Test("a key that was taken out is opened again, with nothing selected")
    func removal() async throws {
        let key = try VirtualKey.new()
        let opened = Mutex<[CardService]>([])
        let open = opener(key)
        let bench = try RemoteCardBench()
        try await bench.run(
            [.piv, .openpgp],
            {
                let service = try open()
                opened.withLock { $0.append(service) }
                return service
            }
        ) { card in
            let service = try CardService(channel(card))
            _ = try await service.select(.piv)
            let query = APDU(ins: 0x20, p2: 0x80, le: .none)
            try await expect(service.send(query).status.triesLeft, is: 3)
            await opened.withLock { $0[0] }.close()
            try await expect(service.send(query).status, is: .conditionsNotSatisfied)
            _ = try await service.select(.piv)
            try await expect(service.send(query).status.triesLeft, is: 3)
        }
        expect(opened.withLock { $0.count }, is: 2)
    }

    @Test("what is too long, malformed or too fast for a card")
    func lengths() async throws {
        let bench = try RemoteCardBench()
        try await bench.run([.piv], opener(try .new())) { card in
            let deadline = Deadline.after(.seconds(60))
            let answers: [([UInt8], StatusWord)] = [
                ([UInt8](repeating: 0, count: 8000), .wrongLength), ([0, 0xA4, 4, 0, 9, 1], .wrongLength),
                ([0, 0xA4, 4], .wrongLength), ([0x80, 0xA4, 4, 0], .unknownClass),
                ([0, 0xCB, 0x3F, 0xFF], .conditionsNotSatisfied), ([0, 0xC0, 0, 0, 0], .conditionsNotSatisfied),
            ]
            for (command, status) in answers {
                let reply = try await onThread { try card.exchange(command, deadline: deadline) }
                expect(reply, is: ResponseAPDU(status).encoded, "\(command.prefix(6))")
            }
            let start = ContinuousClock.now
            for _ in 0..<410 {
                _ = try await onThread { try card.exchange([0, 0xC0, 0, 0, 0], deadline: deadline) }
            }
            // Four hundred at once, then one in 20 ms.
            #expect(start.duration(to: .now) > .milliseconds(100))
            // An unknown byte has no answer; a reader that leaves in a message is waited for.
            card.send(raw: [0, 1, 9])
            card.send(raw: [0, 9, 0])
            card.leave()
            let other = try await bench.again()
            try await expect(onThread { try other.exchange([0, 0xC0, 0, 0, 0], deadline: deadline).count }, is: 2)
        }
    }

    /// How a far end ends that puts the card into a reader at this port.
    private func far(_ port: UInt16, _ body: (HostileEndTests.Peer) async throws -> Void) async throws -> RemoteError? {
        let peer = HostileEndTests.Peer(isNear: true)
        let result = Mutex<RemoteError?>(nil)
        let ended = Semaphore()
        let isStarted = SystemThread.start {
            var end = FarEnd(
                peer.channel, RemoteHello(program: "1"), owner: nil, cancellation: Cancellation(), report: { _ in },
                open: nil)
            end.reader = VPCDAddress(port: port)
            do throws(RemoteError) { try end.run() } catch { result.withLock { $0 = error } }
            ended.post()
        }
        try #require(isStarted)
        try await expect(peer.next(), is: .hello(RemoteHello(program: "1")))
        peer.write(RemoteFrame.greeting)
        peer.write(.hello(RemoteHello(program: "1")), .card([0x3B, 0x80]))
        try await body(peer)
        try await onThread { #expect(ended.wait(milliseconds: 60_000)) }
        withExtendedLifetime(peer) {}
        return result.withLock { $0 }
    }

    @Test("without a reader the near end is told why")
    func noReader() async throws {
        let error = try await far(1) { peer in
            guard case .end(let ending)? = try await peer.next() else { throw RemoteError.lost }
            #expect(ending.reason == .noReader && ending.text.hasPrefix("no virtual reader at 127.0.0.1:1"))
        }
        guard case .reader(.notReachable)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a near end that speaks out of turn, ends or leaves: the card goes")
    func nearEnds() async throws {
        let endings: [(RemoteFrame, RemoteError?)] = [
            (.reply(1, [0x90, 0]), .violation(.unexpected)), (.key([0]), .violation(.unexpected)),
            (.card([0x3B, 0]), .violation(.unexpected)), (.end(RemoteEnding(.done)), nil),
            (.end(RemoteEnding(.violation)), .ended(RemoteEnding(.violation))),
        ]
        for (frame, wanted) in endings {
            let listener = try LocalSocket(listeningOn: 0x7F00_0001)
            let error = try await far(listener.port) { peer in
                let card = try await onThread { try FarCard(listener) }
                expect(card.identity.atr, is: [0x3B, 0x80])
                peer.write(frame)
                #expect(try await onThread { card.isRemoved })
            }
            expect(error, is: wanted, "\(frame)")
        }
        let listener = try LocalSocket(listeningOn: 0x7F00_0001)
        let error = try await far(listener.port) { peer in
            let card = try await onThread { try FarCard(listener) }
            peer.hang()
            #expect(try await onThread { card.isRemoved })
        }
        expect(error, is: .lost)
    }
}
