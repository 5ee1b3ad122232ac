// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing
import YKCrypto
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKVirtualKeyHost
import YKWire

/// A key that generates an RSA key pair for as long as a test wants: its host is told meanwhile, on every interface.
struct ComputingTests {
    /// Opened when the pair may be made.
    private let gate = Cancellation()
    private let everybody = CTAPHID.Channel.broadcast
    private let first = CTAPHID.Channel(rawValue: 1)
    private let hello: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]

    private func key(touch: VirtualInputs.Touch = .touched) -> VirtualKey {
        .demonstration(inputs: environment(touch))
    }

    private func environment(_ touch: VirtualInputs.Touch = .touched) -> VirtualInputs {
        var inputs = VirtualInputs(touch: { _ in touch })
        inputs.keyPairs = RSAKeyPairs { [gate] bits in
            while !gate.isCancelled { Pause.step(.after(.milliseconds(1)), atMost: 1) }
            return try? PrivateKey(newRSA: bits)
        }
        return inputs
    }

    /// makeCredential with RS256.
    private let makeCredential: [UInt8] =
        [0x01]
        + CBOR.map([
            1: .bytes([UInt8](repeating: 7, count: 32)), 2: ["id": "example.org"], 3: ["id": .bytes([1])],
            4: [["alg": -257, "type": "public-key"]],
        ]).encoded

    private func reports(
        _ command: CTAPHID.Command, _ channel: CTAPHID.Channel, _ payload: [UInt8]
    ) throws -> [[UInt8]] { try CTAPHID.Message(command, on: channel, payload).reports() }

    /// The SELECT of OpenPGP, the administrator's PIN, and GENERATE of the signature key: RSA 2048.
    private let openPGP = ["00a4040006d2760001240100", "00200083083132333435363738"]
    private let generate = "00478000000002b6000000"

    // MARK: - HID

    /// A device with a clock that the test moves.
    private struct Desk {
        var device = VirtualHID()
        var now = ContinuousClock.now
        let key: VirtualKey

        init(_ key: VirtualKey) { self.key = key }

        mutating func send(_ reports: [[UInt8]]) -> [[UInt8]] {
            for report in reports { device.receive(report, at: now, key.run) }
            return take()
        }

        mutating func wait(_ duration: Duration) -> [[UInt8]] {
            now = now.advanced(by: duration)
            device.poll(at: now, key.run)
            return take()
        }

        private mutating func take() -> [[UInt8]] {
            var reports: [[UInt8]] = []
            while let report = device.next(at: now) { reports.append(report) }
            return reports
        }

        /// What comes once the pair is there, other than the keepalives until then.
        mutating func answer(_ keepalive: UInt8 = 1) -> [UInt8] {
            while true {
                let reports = wait(.milliseconds(10))
                if let other = reports.first(where: { $0[4...7] != [0xBB, 0, 1, keepalive] }) { return other }
                Pause.step(.after(.milliseconds(5)), atMost: 5)
            }
        }
    }

    @Test("a keepalive each 100 ms says that the key computes, however long that is")
    func keepalives() throws {
        var desk = Desk(key())
        _ = desk.send(try reports(.initialize, everybody, hello))
        var said = desk.send(try reports(.cbor, first, makeCredential))
        #expect(said.count == 1 && said[0][4...7] == [0xBB, 0, 1, 1])
        expect(desk.device.pause(at: desk.now), is: .milliseconds(10))
        var count = 0
        // Longer than a touch is waited for.
        for _ in 0..<4000 {
            said = desk.wait(.milliseconds(10))
            #expect(said.allSatisfy { $0[4...7] == [0xBB, 0, 1, 1] })
            count += said.count
        }
        expect(count, is: 400)
        expect(desk.send(try reports(.cbor, first, [4])).first?[4...7], is: [0xBF, 0, 1, 6])
        gate.cancel()
        let answer = desk.answer()
        #expect(answer[3] == 1 && answer[4] == 0x90 && answer[7] == 0)
        #expect(desk.wait(.seconds(1)).isEmpty)
    }

    @Test("the touch that follows has its time from when it is asked for")
    func touchAfterwards() throws {
        var desk = Desk(key(touch: .pending))
        _ = desk.send(try reports(.initialize, everybody, hello))
        _ = desk.send(try reports(.cbor, first, makeCredential))
        expect(desk.wait(.seconds(25)).count, is: 1)
        gate.cancel()
        expect(desk.answer()[4...7], is: [0xBB, 0, 1, 2])
        expect(desk.wait(.seconds(29)).first?[4...7], is: [0xBB, 0, 1, 2])
        let late = desk.wait(.seconds(1))
        #expect(late.first?[4] == 0x90 && late.first?[7] == 0x2F)
    }

    @Test("cancelling ends the wait at once, and the next command gets the pair")
    func cancelled() throws {
        var desk = Desk(key())
        _ = desk.send(try reports(.initialize, everybody, hello))
        _ = desk.send(try reports(.cbor, first, makeCredential))
        let end = desk.send(try reports(.cancel, first, []))
        #expect(end.first?[4] == 0x90 && end.first?[7] == 0x2D)
        expect(desk.key.state, is: .demonstration())
        gate.cancel()
        _ = desk.send(try reports(.cbor, first, makeCredential))
        expect(desk.answer()[7], is: 0)
    }

    @Test func uhid() throws {
        let served = try UHIDTests.Served(key())
        let kernel = served.kernels[0]
        _ = kernel.receive()
        func send(_ reports: [[UInt8]]) {
            for report in reports {
                kernel.send([6, 0, 0, 0, 0] + report + [UInt8](repeating: 0, count: 4031) + [65, 0, 1])
            }
        }
        send(try reports(.initialize, everybody, hello))
        _ = kernel.receive()
        send(try reports(.cbor, first, makeCredential))
        for _ in 0..<3 { expect(kernel.receive()[10...13], is: [0xBB, 0, 1, 1]) }
        gate.cancel()
        var report = kernel.receive()
        while report.count == 70, report[10] == 0xBB { report = kernel.receive() }
        #expect(report[10] == 0x90 && report[13] == 0)
        served.end()
    }

    // MARK: - USB

    @Test func fidoOnTheUSB() throws {
        let served = try USBIPTests.Served(key())
        let host = served.hosts[0]
        for report in try reports(.initialize, everybody, hello) { expect(host.write(4, report), is: 0) }
        _ = host.read(4)
        for report in try reports(.cbor, first, makeCredential) { expect(host.write(4, report), is: 0) }
        for _ in 0..<3 { expect(host.read(4)[4...7], is: [0xBB, 0, 1, 1]) }
        gate.cancel()
        var report = host.read(4)
        while report.count == 64, report[4] == 0xBB { report = host.read(4) }
        #expect(report[4] == 0x90 && report[7] == 0)
        served.end()
    }

    @Test("the card reader asks for more time")
    func cardOnTheUSB() throws {
        let served = try USBIPTests.Served(key())
        let host = served.hosts[0]
        func send(_ kind: UInt8, _ hex: String = "") throws -> [UInt8] {
            let data = try Hex.decode(hex)
            expect(host.write(2, [kind, UInt8(data.count), 0, 0, 0, 0, 42, 0, 0, 0] + data), is: 0)
            return host.read(2, 4096)
        }
        _ = try send(0x62)
        for command in openPGP { try expect(send(0x6F, command).suffix(2), is: [0x90, 0]) }
        try expect(send(0x6F, generate)[7...8], is: [0x80, 10])
        expect(host.read(2, 4096)[7...8], is: [0x80, 10])
        gate.cancel()
        var reply = host.read(2, 4096)
        while reply.count == 10, reply[7] == 0x80 { reply = host.read(2, 4096) }
        #expect(reply[7] == 0 && reply[10...11] == [0x7F, 0x49] && reply.suffix(2) == [0x90, 0])
        served.end()
    }

    // MARK: - Cards

    @Test("vpcd, which knows no extension, is answered when the pair is there")
    func vpcd() throws {
        let listener = Listener()
        let serving = try Serving(key(), VPCDAddress(port: listener.port))
        let reader = try #require(listener.accept())
        reader.send([1])
        for command in openPGP { expect(reader.ask(try Hex.decode(command)).suffix(2), is: [0x90, 0]) }
        reader.send(try Hex.decode(generate))
        // Ten times as long as this server waits for a touch.
        Pause.system(.milliseconds(200), .after(.seconds(1)))
        gate.cancel()
        let reply = reader.receive()
        #expect(reply.prefix(2) == [0x7F, 0x49] && reply.suffix(2) == [0x90, 0])
        expect(reader.ask(try Hex.decode("00ca006e000000")).suffix(2), is: [0x90, 0])
        serving.end()
    }

    @Test("CTAP2 over a card that is polled is told that the key computes, CTAP 2.2 §11.3.7")
    func polledCard() throws {
        var card = VirtualCard(.demonstration())
        let inputs = environment()
        _ = card.exchange(try APDU(ins: 0xA4, p1: 4, data: AID.fido.rawValue).encoded(.short), inputs)
        let command = try APDU(cla: 0x80, ins: 0x10, p1: 0x80, data: makeCredential).encoded(.extended)
        expect(card.exchange(command, inputs), is: [1, 0x91, 0])
        gate.cancel()
        let poll: [UInt8] = [0x80, 0x11, 0, 0, 0]
        var reply = card.exchange(poll, inputs)
        while reply == [1, 0x91, 0] { reply = card.exchange(poll, inputs) }
        expect(reply?.first, is: 0)
    }

    @Test("a pair that cannot be made is a failure of the memory")
    func failure() throws {
        var inputs = VirtualInputs()
        inputs.keyPairs = RSAKeyPairs { _ in nil }
        let key = VirtualKey.demonstration(inputs: inputs)
        for command in openPGP { _ = try key.exchange(try Hex.decode(command)) }
        try expect(key.exchange(try Hex.decode(generate)), is: [0x65, 0x81])
    }
}
