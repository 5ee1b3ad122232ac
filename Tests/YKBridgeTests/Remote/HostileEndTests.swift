// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing
import YKFIDO
import YKInteraction
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKVirtualKeyHost
import YKWire

@testable import YKBridge

/// Ends that do not keep to the protocol.
@Suite(.serialized) struct HostileEndTests {
    /// The other end of a connection, played by a test.
    final class Peer: Sendable {
        let channel: RemoteChannel
        private let own: RemoteChannel
        private let sockets: Sockets
        private let inbox: RemoteInbox

        /// - Parameter isNear: Whether the test plays the near end.
        init(isNear: Bool) {
            sockets = Sockets()
            // On a busy machine a test is silent for long before its next turn.
            channel = RemoteChannel(input: sockets.one, output: sockets.one, silence: .seconds(600))
            own = RemoteChannel(input: sockets.other, output: sockets.other)
            inbox = RemoteInbox(RemoteFrameReader(skipsNoise: isNear)) {}
        }

        deinit {
            Glibc.close(sockets.one)
            Glibc.close(sockets.other)
        }

        func write(_ bytes: [UInt8]) { _ = send(sockets.other, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
        func write(_ frames: RemoteFrame...) { for frame in frames { own.send(frame) } }
        func hang() { shutdown(sockets.other, Int32(SHUT_RDWR)) }

        /// The next frame, except signs of life.
        func next() async throws -> RemoteFrame? {
            for _ in 0..<600 {
                if let frame = try inbox.next() {
                    if frame == .alive { continue }
                    return frame
                }
                inbox.take(try await onThread { [own] in own.receive(until: [], atMost: .milliseconds(100)) })
            }
            return nil
        }
    }

    /// How a near end with a new virtual key ends.
    private func near(
        _ user: NearUser = NearUser(true), _ body: (Peer) async throws -> Void
    ) async throws -> RemoteError? {
        let peer = Peer(isNear: false)
        let key = try VirtualKey.new()
        let service = try await FIDOService.open(hid: key.reportLink(), environment: .instant)
        let end = NearEnd(
            host: "lab", peer.channel, RemoteHello(program: "1"), RemotePolicy(), user, Cancellation(), { _ in })
        let running = Task { () -> RemoteError? in
            do throws(RemoteError) { try await end.run(service) } catch { return error }
            return nil
        }
        try await body(peer)
        let error = await running.value
        withExtendedLifetime(peer) {}
        expect(key.state.fido.counter, is: 0)
        return error
    }

    private func greet(_ peer: Peer) async throws {
        peer.write(RemoteFrame.greeting)
        peer.write(.hello(RemoteHello(program: "evil")))
        try await expect(peer.next(), is: .hello(RemoteHello(program: "1")))
        guard case .key = try await peer.next() else { throw RemoteError.lost }
    }

    @Test("a far end that floods, lies about lengths, speaks out of turn or leaves")
    func farEnds() async throws {
        let request = RemoteFrame.request(1, CTAP.register())
        let frames: [([RemoteFrame], [UInt8])] = [
            ([request, .request(2, [4])], []), ([.reply(1, [0])], []), ([.touch(1)], []), ([.key([0])], []),
            ([.hello(RemoteHello(program: "again"))], []), ([], [0xFF, 0xFF, 0xFF, 0xFF, 1]), ([], [0, 0, 0, 1, 77]),
            ([], [UInt8](repeating: 0, count: 4)), ([request], [0, 0, 0, 0]),
        ]
        for (given, bytes) in frames {
            let error = try await near(NearUser(nil)) { peer in
                try await greet(peer)
                for frame in given { peer.write(frame) }
                peer.write(bytes)
            }
            guard case .violation? = error else {
                Issue.record("\(given) \(bytes): \(String(describing: error))")
                continue
            }
        }
        for text in ["bash: ykit: command not found\n", String(repeating: "x", count: 5000)] {
            let error = try await near { peer in
                peer.write(Array(text.utf8))
                peer.hang()
            }
            expect(error, is: .noGreeting(String(text.prefix(200))))
        }
        try await expect(near { $0.hang() }, is: .noGreeting(""))
        let early = try await near { peer in
            peer.write(RemoteFrame.greeting)
            peer.write(request)
        }
        expect(early, is: .violation(.unexpected))
        let ending = RemoteEnding(.noDevice, "no uhid")
        let ended = try await near { peer in
            peer.write(RemoteFrame.greeting)
            peer.write(.end(ending))
        }
        expect(ended, is: .ended(ending))
        let done = try await near { peer in
            try await greet(peer)
            peer.write(.cancel(9), .alive, .end(RemoteEnding(.done)))
        }
        expect(done, is: nil)
    }

    @Test("a far end that asks for garbage gets an error each time, and ever more slowly")
    func garbage() async throws {
        let error = try await near { peer in
            try await greet(peer)
            for number in 0..<30 {
                peer.write(.request(UInt32(number), [number % 2 == 0 ? 1 : 0x20, UInt8(number)]))
                guard case .reply(UInt32(number), let answer)? = try await peer.next() else {
                    Issue.record("\(number)")
                    break
                }
                #expect(answer.count == 1 && answer[0] != 0)
            }
            peer.hang()
        }
        expect(error, is: .lost)
    }

    @Test("a key that is removed is opened again for the next request")
    func removed() async throws {
        let peer = Peer(isNear: false)
        let key = try VirtualKey.new()
        let faulty = try FaultPlan(parsing: "at 5: remove")
        let service = try await FIDOService.open(hid: key.reportLink(faults: faulty), environment: .instant)
        let end = NearEnd(
            host: "lab", peer.channel, RemoteHello(program: "1"), RemotePolicy(), NearUser(true), Cancellation(),
            { _ in })
        let running = Task { () -> RemoteError? in
            do throws(RemoteError) {
                try await end.run(service) {
                    try? await FIDOService.open(hid: key.reportLink(), environment: .instant)
                }
            } catch { return error }
            return nil
        }
        try await greet(peer)
        var statuses: [UInt8] = []
        for number: UInt32 in 1...12 {
            peer.write(.request(number, CTAP.pin(2)))
            if case .reply(number, let answer)? = try await peer.next() { statuses.append(answer[0]) }
        }
        #expect(statuses.filter { $0 != 0 } == [0x7F] && statuses.last == 0)
        peer.hang()
        await expect(running.value, is: .lost)
        withExtendedLifetime(peer) {}
    }

    /// How a far end ends.
    private func far(
        _ errno: Int32? = nil, _ body: @escaping (Peer, FarKernel) async throws -> Void
    ) async throws -> RemoteError? {
        let (peer, kernel) = (Peer(isNear: true), FarKernel())
        let result = Mutex<RemoteError?>(nil)
        let ended = Semaphore()
        let isStarted = SystemThread.start {
            let end = FarEnd(
                peer.channel, RemoteHello(program: "1"), owner: nil, cancellation: Cancellation(), report: { _ in }
            ) { errno.map { (-1, $0) } ?? (kernel.served, 0) }
            do throws(RemoteError) { try end.run() } catch { result.withLock { $0 = error } }
            ended.post()
        }
        try #require(isStarted)
        try await body(peer, kernel)
        try await onThread { #expect(ended.wait(milliseconds: 60_000)) }
        #expect(!kernel.isPluggedIn)
        withExtendedLifetime(peer) {}
        return result.withLock { $0 }
    }

    private func start(_ peer: Peer) async throws {
        try await expect(peer.next(), is: .hello(RemoteHello(program: "1")))
        peer.write(RemoteFrame.greeting)
        peer.write(.hello(RemoteHello(program: "1")), .key([0, 0xA0]))
    }

    @Test("a near end that lies, speaks out of turn or leaves: the device goes")
    func nearEnds() async throws {
        for frames: [RemoteFrame] in [
            [.reply(1, [0])], [.touch(1)], [.request(1, [4])], [.key([0])], [.hello(RemoteHello(program: "1"))],
        ] {
            let error = try await far { peer, kernel in
                try await start(peer)
                #expect(await kernel.waits(isPluggedIn: true))
                for frame in frames { peer.write(frame) }
            }
            expect(error, is: .violation(.unexpected), "\(frames)")
        }
        let left = try await far { peer, kernel in
            try await start(peer)
            #expect(await kernel.waits(isPluggedIn: true))
            peer.hang()
        }
        expect(left, is: .lost)
        let ended = try await far { peer, kernel in
            try await start(peer)
            #expect(await kernel.waits(isPluggedIn: true))
            peer.write(.end(RemoteEnding(.done)))
        }
        expect(ended, is: nil)
        let violation = RemoteEnding(.violation, "x")
        let blamed = try await far { peer, _ in
            try await start(peer)
            peer.write(.end(violation))
        }
        expect(blamed, is: .ended(violation))
        let early = try await far { peer, _ in
            try await expect(peer.next(), is: .hello(RemoteHello(program: "1")))
            peer.write(RemoteFrame.greeting)
            peer.write(.key([0]))
            _ = try await peer.next()
        }
        expect(early, is: .violation(.unexpected))
        let stranger = try await far { peer, _ in
            try await expect(peer.next(), is: .hello(RemoteHello(program: "1")))
            peer.write(Array("hello\n".utf8))
            _ = try await peer.next()
        }
        expect(stranger, is: .noGreeting("hello\n"))
    }

    @Test("without uhid the near end is told why")
    func noDevice() async throws {
        let error = try await far(EACCES) { peer, _ in
            try await start(peer)
            let wanted = RemoteEnding(.noDevice, UHIDError.denied(path: "/dev/uhid").description)
            try await expect(peer.next(), is: .end(wanted))
        }
        expect(error, is: .device(.denied(path: "/dev/uhid")))
    }

    @Test("a reply of another size than the key's is passed on; what CTAPHID cannot carry is not")
    func errors() {
        for (error, ending) in [
            (.incompatible(own: 1...1, other: 2...2, program: ""), .incompatible), (.noThread, .noDevice),
            (.noGreeting(""), .violation), (.noFIDO2, .violation), (.lost, .done),
            (.ended(RemoteEnding(.violation)), .done), (.device(.gone), .noDevice),
        ] as [(RemoteError, RemoteEnding.Reason)] {
            expect(error.ending.reason, is: ending)
        }
        for (error, status) in [
            (.touchTimeout, 0x2F), (.denied, 0x27), (.noCredentials, 0x2E), (.credentialExcluded, 0x19), (.full, 0x28),
            (.unsupported("uv"), 0x2B), (.notAllowed("x"), 0x30), (.wrongPIN(nil), 0x27), (.pinBlocked, 0x27),
            (.ctap(.status(.limitExceeded, during: "x")), 0x15),
            (.ctap(.tooLong(bytes: 9, limit: 8, during: "x")), 0x39),
            (.ctap(.link(.device(.cancelled))), 0x2D), (.ctap(.link(.device(.removed))), 0x7F), (.pinRefused, 0x7F),
        ] as [(FIDOError, UInt8)] {
            expect(error.farStatus, is: status, "\(error)")
        }
    }
}
