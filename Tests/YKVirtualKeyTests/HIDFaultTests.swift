// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// Faults at report level.
struct HIDFaultTests {
    private typealias Desk = VirtualHIDTests.Desk

    /// What a PING of 100 bytes is answered with, when this goes wrong at it; the second exchange.
    private func ping(_ fault: String, _ desk: inout Desk) throws -> [[UInt8]] {
        desk = try Desk("at 2: \(fault)")
        let channel = try desk.open()
        return try desk.send(.ping, channel, [UInt8](repeating: 0x11, count: 100))
    }

    private func ping(_ fault: String) throws -> [[UInt8]] {
        var desk = try Desk()
        return try ping(fault, &desk)
    }

    @Test func answersAreSpoiled() throws {
        let whole = try CTAPHID.Message(.ping, on: .init(rawValue: 1), [UInt8](repeating: 0x11, count: 100)).reports()
        #expect(try ping("drop").isEmpty)
        try expect(ping("drop 1"), is: [whole[1]])
        try expect(ping("drop 2"), is: [whole[0]])
        try expect(ping("drop 3"), is: whole)
        try expect(ping("truncate 9"), is: [Array(whole[0].prefix(9)), whole[1]])
        try expect(ping("garbage ff")[0], is: [0xFF] + [UInt8](repeating: 0, count: 63))
        try expect(ping("channel").map { $0[..<4] }, is: [[1, 1, 1, 0], [1, 1, 1, 0]])
        try expect(ping("sequence").map { $0[4] }, is: [0x81, 1])
        try expect(ping("longer 5")[0][..<7], is: [0, 0, 0, 1, 0x81, 0, 105])
        try expect(ping("shorter 5")[0][..<7], is: [0, 0, 0, 1, 0x81, 0, 95])
        try expect(ping("shorter 500")[0][..<7], is: [0, 0, 0, 1, 0x81, 0, 0])
        try expect(ping("storm 3").map { $0[0] }, is: [0x7F, 0x7F, 0x7F, 0, 0x7F, 0x7F, 0x7F, 0])
        try expect(ping("nonce"), is: whole)
        try expect(ping("error 7f")[0][4..<8], is: [0xBF, 0, 1, 0x7F])
        try expect(ping("status 36")[0][4..<8], is: [0x81, 0, 1, 0x36])
        try expect(ping("status 6985")[0][4..<9], is: [0x81, 0, 2, 0x69, 0x85])
    }

    @Test func delaysAndKeepalives() throws {
        var desk = try Desk()
        #expect(try ping("delay 2s", &desk).isEmpty)
        expect(desk.device.pause(at: desk.now), is: .seconds(2))
        #expect(desk.wait(.milliseconds(1999)).isEmpty)
        expect(desk.wait(.milliseconds(1)).count, is: 2)
        desk = try Desk("at 2: keepalives")
        let channel = try desk.open()
        try expect(desk.send(.cbor, channel, [4])[0][4..<8], is: [0xBB, 0, 1, 1])
        #expect(try desk.send(.cancel, channel).isEmpty)
        expect(desk.wait(.seconds(100)).count, is: 1)
        expect(desk.wait(.seconds(100)).count, is: 1)
        try expect(desk.send(.initialize, channel, [UInt8](repeating: 1, count: 8))[0][4], is: 0x86)
        try expect(desk.send(.cbor, channel, [4])[0][4], is: 0x90)
    }

    @Test func aWrongNonce() throws {
        var desk = try Desk("at 1: nonce")
        let reply = try desk.send(.initialize, 0xFFFF_FFFF, [1, 2, 3, 4, 5, 6, 7, 8])
        expect(reply[0][7..<15], is: [0xFE, 0xFD, 0xFC, 0xFB, 0xFA, 0xF9, 0xF8, 0xF7])
        try expect(desk.open(), is: 2)
    }

    @Test func busySoManyTimes() throws {
        var desk = try Desk("on 8155: busy 2")
        let channel = try desk.open()
        var answers: [UInt8] = []
        for byte: UInt8 in [0x11, 0x55, 0x11, 0x11] { answers.append(try desk.send(.ping, channel, [byte])[0][4]) }
        expect(answers, is: [0x81, 0xBF, 0xBF, 0x81])
    }

    @Test func theKeyGoes() throws {
        var desk = try Desk()
        #expect(try ping("remove", &desk).isEmpty)
        expect(desk.device.absence, is: .forGood)
        #expect(desk.send([[UInt8](repeating: 0, count: 64)]).isEmpty)
        #expect(try ping("remove 5ms", &desk).isEmpty)
        expect(desk.device.absence, is: .until(.milliseconds(5)))
        #expect(try ping("reset", &desk).isEmpty)
        expect(desk.device.absence, is: .until(.zero))
        expect(desk.device.replugged.absence, is: nil)
        try expect(ping("remove after 1", &desk).count, is: 1)
        expect(desk.device.absence, is: .forGood)
    }

    @Test func reportsOfTheHost() throws {
        var desk = try Desk("report 3: drop")
        let channel = try desk.open()
        let reply = try desk.send(.ping, channel, [UInt8](repeating: 1, count: 200))
        expect(reply[0][4..<8], is: [0xBF, 0, 1, 0x04])
        desk = try Desk("report 2: remove")
        _ = try desk.send(.ping, try desk.open(), [1])
        expect(desk.device.absence, is: .forGood)
        desk = try Desk("report 2: error 05")
        try expect(desk.send(.ping, try desk.open(), [1])[0][4..<8], is: [0xBF, 0, 1, 5])
    }

    @Test("in the same process a key that is gone stays away")
    func inProcess() throws {
        let key = VirtualKey.demonstration()
        let link = key.reportLink(faults: try FaultPlan(parsing: "at 2: remove after 1"))
        let deadline = Deadline.after(.seconds(5))
        let hello = try CTAPHID.Message(.initialize, on: .broadcast, [1, 2, 3, 4, 5, 6, 7, 8]).reports()[0]
        try link.write(hello, deadline: deadline)
        try expect(link.read(deadline: deadline)[4], is: 0x86)
        for report in try CTAPHID.Message(.cbor, on: .init(rawValue: 1), [4]).reports() {
            try link.write(report, deadline: deadline)
        }
        _ = try link.read(deadline: deadline)
        #expect(throws: LinkError.removed) { try link.read(deadline: deadline) }
        #expect(throws: LinkError.removed) { try link.write(hello, deadline: deadline) }
        let silent = key.reportLink(faults: try FaultPlan(parsing: "from 1: drop"))
        try silent.write(hello, deadline: deadline)
        #expect(throws: LinkError.timedOut("a report")) { try silent.read(deadline: .after(.milliseconds(20))) }
    }

    @Test("rules that only make sense on another link are found")
    func misfits() throws {
        try expect(FaultPlan(parsing: "at 1: drop; at 2: nonce").misfit(on: .card)?.fault, is: .nonce)
        #expect(try FaultPlan(parsing: "report 1: drop").misfit(on: .card) != nil)
        let ofReader = "at 1: stall; at 2: longer 3; at 3: sequence; at 4: remove after 1; at 5: drop"
        try expect(FaultPlan(parsing: ofReader).misfit(on: .reader), is: nil)
        try expect(FaultPlan(parsing: ofReader).misfit(on: .card)?.fault, is: .stall)
        #expect(try FaultPlan(parsing: "at 1: nonce").misfit(on: .reader) != nil)
        try expect(FaultPlan(parsing: "at 1: nonce; report 2: drop; at 3: more").misfit(on: .reports), is: nil)
    }
}
