// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

@Suite struct CTAPHIDTests {
    private let channel = CTAPHID.Channel(rawValue: 0x0102_0304)

    private func assemble(_ reports: [[UInt8]], on channel: CTAPHID.Channel) throws -> CTAPHID.Message? {
        var assembler = CTAPHID.Assembler(channel: channel)
        for (index, report) in reports.enumerated() {
            let progress = try assembler.add(report)
            if case .message(let message) = progress {
                expect(index, is: reports.count - 1)
                #expect(!assembler.isInMessage)
                return message
            }
            #expect(progress == .incomplete && assembler.isInMessage)
        }
        return nil
    }

    @Test func everyLengthComesBackAsItWent() throws {
        let bytes = (0..<CTAPHID.messageLimit).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        // Every length of up to seven reports, and around the end of each further one.
        let lengths = (0...CTAPHID.messageLimit).filter { (length: Int) -> Bool in
            length < 420 || abs(57 - length) % 59 < 2 || length > 7600
        }
        #expect(lengths.last == CTAPHID.messageLimit && lengths.count > 600)
        for length in lengths {
            let message = CTAPHID.Message(.cbor, on: channel, Array(bytes.prefix(length)))
            let reports = try message.reports()
            expect(reports.count, is: 1 + max(0, length - 57 + 58) / 59)
            #expect(reports.allSatisfy { $0.count == 64 })
            try expect(assemble(reports, on: channel), is: message)
        }
    }

    @Test func writesTheBytesOfTheSpecification() throws {
        let reports = try CTAPHID.Message(.initialize, on: .broadcast, [1, 2, 3, 4, 5, 6, 7, 8]).reports()
        expect(Hex.encode(reports[0].prefix(15)), is: "ffffffff8600080102030405060708")
        #expect(reports[0].dropFirst(15).allSatisfy { $0 == 0 })
        let long = try CTAPHID.Message(.ping, on: channel, [UInt8](repeating: 0xAA, count: 58)).reports()
        expect(Hex.encode(long[0].prefix(8)), is: "0102030481003aaa")
        expect(Hex.encode(long[1].prefix(7)), is: "0102030400aa00")
    }

    @Test func refusesAMessageThatDoesNotFit() {
        #expect(throws: WireError.self) {
            try CTAPHID.Message(.ping, on: channel, [UInt8](repeating: 0, count: 7610)).reports()
        }
    }

    @Test func passesOverOtherChannels() throws {
        let other = try CTAPHID.Message(.ping, on: .init(rawValue: 9), [UInt8](repeating: 1, count: 200)).reports()
        let mine = try CTAPHID.Message(.ping, on: channel, [UInt8](repeating: 2, count: 200)).reports()
        var assembler = CTAPHID.Assembler(channel: channel)
        for (index, report) in mine.enumerated() {
            for noise in other { try expect(assembler.add(noise), is: .otherChannel) }
            let progress = try assembler.add(report)
            expect((progress == .incomplete), is: (index < mine.count - 1))
        }
    }

    @Test func anInitialReportStartsAnew() throws {
        let long = try CTAPHID.Message(.cbor, on: channel, [UInt8](repeating: 1, count: 100)).reports()
        let keepalive = try CTAPHID.Message(.keepalive, on: channel, [2]).reports()
        var assembler = CTAPHID.Assembler(channel: channel)
        try expect(assembler.add(long[0]), is: .incomplete)
        try expect(assembler.add(keepalive[0]), is: .message(.init(.keepalive, on: channel, [2])))
        #expect(throws: WireError.self) { try assembler.add(long[1]) }
    }

    @Test func refusesWhatIsOutOfOrder() throws {
        let reports = try CTAPHID.Message(.cbor, on: channel, [UInt8](repeating: 1, count: 300)).reports()
        for order in [[1], [0, 2], [0, 1, 1], [0, 1, 3]] {
            var assembler = CTAPHID.Assembler(channel: channel)
            for index in order.dropLast() { _ = try assembler.add(reports[index]) }
            #expect(throws: WireError.self) { try assembler.add(reports[order[order.count - 1]]) }
            #expect(!assembler.isInMessage)
        }
    }

    @Test(arguments: [0, 1, 63, 65])
    func refusesReportsOfAnotherSize(size: Int) {
        var assembler = CTAPHID.Assembler(channel: channel)
        #expect(throws: WireError.self) { try assembler.add([UInt8](repeating: 0, count: size)) }
    }

    @Test func refusesALengthAboveTheLimit() {
        var assembler = CTAPHID.Assembler(channel: channel)
        let report = channel.bytes + [0x90, 0x1D, 0xBA] + [UInt8](repeating: 0, count: 57)
        #expect(throws: WireError(.tooLarge, at: 5, "a message of 7610 bytes, at most 7609")) {
            try assembler.add(report)
        }
    }

    @Test func namesCommands() {
        expect(CTAPHID.Command.initialize.description, is: "INIT")
        expect(CTAPHID.Command(rawValue: 0x42).description, is: "command 42")
        #expect(CTAPHID.Command(rawValue: 0x42).isVendor && !CTAPHID.Command.cbor.isVendor)
        expect(CTAPHID.Channel.broadcast.description, is: "ffffffff")
    }
}
