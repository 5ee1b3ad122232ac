// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// The device's side of CTAPHID, with a clock that a test moves.
struct VirtualHIDTests {
    /// A device, its key, and the time.
    struct Desk {
        var device: VirtualHID
        var now = ContinuousClock.now
        let key: VirtualKey

        init(_ faults: String = "", touch: VirtualInputs.Touch = .touched) throws {
            device = VirtualHID(faults: try FaultPlan(parsing: faults))
            key = .demonstration(inputs: VirtualInputs(touch: { _ in touch }))
        }

        /// Sends reports and gives what comes at once.
        mutating func send(_ reports: [[UInt8]]) -> [[UInt8]] {
            for report in reports { device.receive(report, at: now, key.run) }
            return take()
        }

        mutating func send(
            _ command: CTAPHID.Command, _ channel: UInt32 = 1, _ payload: [UInt8] = []
        ) throws
            -> [[UInt8]]
        {
            send(try CTAPHID.Message(command, on: .init(rawValue: channel), payload).reports())
        }

        mutating func wait(_ duration: Duration) -> [[UInt8]] {
            now = now.advanced(by: duration)
            device.poll(at: now, key.run)
            return take()
        }

        mutating func take() -> [[UInt8]] {
            var reports: [[UInt8]] = []
            while let report = device.next(at: now) { reports.append(report) }
            return reports
        }

        /// A channel of one's own.
        mutating func open() throws -> UInt32 {
            let reply = try #require(try send(.initialize, 0xFFFF_FFFF, [1, 2, 3, 4, 5, 6, 7, 8]).first)
            return reply[15..<19].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    /// Command and first bytes of the payload.
    private func head(_ reports: [[UInt8]], _ count: Int = 1) -> [UInt8]? {
        reports.first.map { [$0[4]] + $0[7..<(7 + count)] }
    }

    @Test func channelsAreAllocatedAndResynchronised() throws {
        var desk = try Desk()
        #expect(try desk.open() == 1 && desk.open() == 2)
        let again = try desk.send(.initialize, 2, [8, 7, 6, 5, 4, 3, 2, 1])
        expect(again[0][..<19], is: [0, 0, 0, 2, 0x86, 0, 17, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 2])
        expect(head(try desk.send(.initialize, 0xFFFF_FFFF, [1])), is: [0xBF, 0x03])
        expect(head(try desk.send(.initialize, 0xFFFF_FFFF, [UInt8](repeating: 1, count: 80))), is: [0xBF, 0x03])
        expect(head(try desk.send(.ping, 3)), is: [0xBF, 0x0B])
        expect(head(try desk.send(.ping, 0)), is: [0xBF, 0x0B])
        expect(head(try desk.send(.ping, 0xFFFF_FFFF)), is: [0xBF, 0x0B])
        #expect(desk.send([[1, 2, 3], [0, 0, 0, 9, 0] + [UInt8](repeating: 0, count: 59)]).isEmpty)
    }

    /// Without data, and with the length of 0 that python-fido2 2.2 writes then.
    @Test(arguments: [[0, 3, 0, 0], [0, 3, 0, 0, 0, 0, 0], [0, 3, 0, 0, 0, 0, 0, 0, 0]] as [[UInt8]])
    func u2fVersion(command: [UInt8]) throws {
        var desk = try Desk()
        let channel = try desk.open()
        expect(head(try desk.send(.msg, channel, command), 8), is: [0x83] + "U2F_V2".utf8 + [0x90, 0x00])
    }

    @Test func messagesAreAnswered() throws {
        var desk = try Desk()
        _ = try desk.open()
        let long = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
        try expect(desk.send(.ping, 1, long), is: CTAPHID.Message(.ping, on: .init(rawValue: 1), long).reports())
        expect(head(try desk.send(.wink)), is: [0x88, 0])
        expect(desk.device.winks, is: 1)
        expect(head(try desk.send(.msg, 1, [0, 3, 0, 0])), is: [0x83, 0x55])
        expect(head(try desk.send(.msg, 1, [9]), 2), is: [0x83, 0x67, 0])
        expect(head(try desk.send(.msg, 1, [1, 3, 0, 0]), 2), is: [0x83, 0x6E, 0])
        expect(head(try desk.send(.cbor, 1, [4])), is: [0x90, 0])
        expect(head(try desk.send(.cbor, 1, [0x55])), is: [0x90, 0x01])
        expect(head(try desk.send(.cbor)), is: [0xBF, 0x03])
        expect(head(try desk.send(.init(rawValue: 0x20), 1, [1])), is: [0xBF, 0x01])
        try expect(desk.send(.init(rawValue: 0x42), 1, [0]).first?[4], is: 0xC2)
        expect(head(try desk.send(.init(rawValue: 0x42), 1, [9])), is: [0xBF, 0x02])
        #expect(try desk.send(.cancel).isEmpty)
    }

    @Test func sequencesAndTimeouts() throws {
        var desk = try Desk()
        #expect(try desk.open() == 1 && desk.open() == 2)
        let reports = try CTAPHID.Message(.ping, on: .init(rawValue: 1), [UInt8](repeating: 7, count: 200)).reports()
        expect(head(desk.send([reports[0], reports[2]])), is: [0xBF, 0x04])
        #expect(desk.send([reports[1]]).isEmpty)
        expect(head(desk.send([reports[0], reports[0]])), is: [0xBF, 0x04])
        #expect(desk.send([reports[0]]).isEmpty)
        expect(head(try desk.send(.ping, 2)), is: [0xBF, 0x06])
        try expect(desk.open(), is: 3)
        expect(desk.device.pause(at: desk.now), is: .milliseconds(500))
        #expect(desk.wait(.milliseconds(499)).isEmpty)
        expect(head(desk.wait(.milliseconds(1))), is: [0xBF, 0x05])
        expect(desk.device.pause(at: desk.now), is: nil)
        #expect(desk.send([reports[0]]).isEmpty)
        expect(head(try desk.send(.initialize, 1, [1, 2, 3, 4, 5, 6, 7, 8])), is: [0x86, 1])
        var tooLong = reports[0]
        (tooLong[5], tooLong[6]) = (0x1D, 0xBA)
        expect(head(desk.send([tooLong])), is: [0xBF, 0x03])
    }

    /// A served key may read a report late that the host sent in time.
    @Test func aWaitingReportIsNotLate() throws {
        var desk = try Desk()
        #expect(try desk.open() == 1 && desk.open() == 2)
        let reports = try CTAPHID.Message(.ping, on: .init(rawValue: 1), [UInt8](repeating: 7, count: 100)).reports()
        #expect(desk.send([reports[0]]).isEmpty)
        desk.now = desk.now.advanced(by: .seconds(2))
        expect(head(desk.send([reports[1]])), is: [0x81, 7])
        #expect(desk.send([reports[0]]).isEmpty)
        desk.now = desk.now.advanced(by: .seconds(2))
        try expect(desk.send(.ping, 2, [5]).map { $0[4] }, is: [0xBF, 0x81])
    }

    @Test func aLockKeepsOthersOff() throws {
        var desk = try Desk()
        #expect(try desk.open() == 1 && desk.open() == 2)
        expect(head(try desk.send(.lock, 1, [11])), is: [0xBF, 0x02])
        expect(head(try desk.send(.lock, 1, [])), is: [0xBF, 0x03])
        expect(head(try desk.send(.lock, 1, [2])), is: [0x84, 0])
        expect(head(try desk.send(.ping, 2, [5])), is: [0xBF, 0x06])
        expect(head(try desk.send(.ping, 1, [5])), is: [0x81, 5])
        _ = desk.wait(.seconds(2))
        expect(head(try desk.send(.ping, 2, [5])), is: [0x81, 5])
        _ = try desk.send(.lock, 1, [9])
        _ = try desk.send(.lock, 1, [0])
        expect(head(try desk.send(.ping, 2, [5])), is: [0x81, 5])
    }

    @Test func aTouchIsWaitedFor() throws {
        var desk = try Desk(touch: .pending)
        #expect(try desk.open() == 1 && desk.open() == 2)
        expect(head(try desk.send(.cbor, 1, [0x0B])), is: [0xBB, 2])
        #expect(desk.wait(.milliseconds(99)).isEmpty)
        expect(head(desk.wait(.milliseconds(1))), is: [0xBB, 2])
        expect(head(try desk.send(.cbor, 2, [4])), is: [0xBF, 0x06])
        #expect(try desk.send(.cancel, 2).isEmpty)
        expect(head(try desk.send(.cancel)), is: [0x90, 0x2D])
        _ = try desk.send(.cbor, 1, [0x0B])
        expect(head(try desk.send(.initialize, 1, [1, 2, 3, 4, 5, 6, 7, 8])), is: [0x86, 1])
        #expect(desk.wait(.seconds(1)).isEmpty)
        _ = try desk.send(.cbor, 1, [0x0B])
        expect(head(desk.wait(.seconds(30))), is: [0x90, 0x2F])
        #expect(desk.wait(.seconds(1)).isEmpty)
    }
}
