// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

/// Every value that each field of a report can have, at every place of a message.
struct FrameTests {
    private static let channel = CTAPHID.Channel(rawValue: 0x0102_0304)

    private func report(_ head: [UInt8], channel: CTAPHID.Channel = channel) -> [UInt8] {
        let bytes = channel.bytes + head
        return bytes + [UInt8](repeating: 0xAA, count: 64 - bytes.count)
    }

    @Test func everyLengthField() {
        for length in UInt16.min ... .max {
            var assembler = CTAPHID.Assembler(channel: Self.channel)
            let first = report([0x90, UInt8(length >> 8), UInt8(length & 0xFF)])
            switch length {
            case 0...57:
                let payload = [UInt8](repeating: 0xAA, count: Int(length))
                expect((try? assembler.add(first)), is: .message(.init(.cbor, on: Self.channel, payload)))
            case 58...7609: expect((try? assembler.add(first)), is: .incomplete)
            default: #expect((try? assembler.add(first)) == nil && !assembler.isInMessage)
            }
        }
    }

    @Test func everySequenceNumberAtEveryPlace() throws {
        let reports = try CTAPHID.Message(
            .cbor, on: Self.channel, [UInt8](repeating: 1, count: CTAPHID.messageLimit)
        ).reports()
        var assembler = CTAPHID.Assembler(channel: Self.channel)
        _ = try assembler.add(reports[0])
        for place in 1..<reports.count {
            for sequence in UInt8(0)..<0x80 where Int(sequence) != place - 1 {
                var copy = assembler
                #expect((try? copy.add(report([sequence]))) == nil && !copy.isInMessage)
            }
            _ = try assembler.add(reports[place])
        }
        #expect(!assembler.isInMessage)
    }

    @Test func everyCommandAndEveryOtherChannel() throws {
        for command in UInt8(0)..<0x80 {
            var assembler = CTAPHID.Assembler(channel: Self.channel)
            let message = CTAPHID.Message(.init(rawValue: command), on: Self.channel)
            try expect(assembler.add(report([0x80 | command, 0, 0])), is: .message(message))
        }
        for bit in 0..<32 {
            var assembler = CTAPHID.Assembler(channel: Self.channel)
            let other = CTAPHID.Channel(rawValue: Self.channel.rawValue ^ 1 << bit)
            try expect(assembler.add(report([0x90, 0, 1], channel: other)), is: .otherChannel)
        }
    }

    @Test func everySizeOfAReport() {
        for size in 0...256 where size != 64 {
            var assembler = CTAPHID.Assembler(channel: Self.channel)
            #expect(throws: WireError.self) { try assembler.add([UInt8](repeating: 1, count: size)) }
        }
    }
}
