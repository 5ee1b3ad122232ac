// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKTransport

@testable import YKHardware

extension RealPCSCD {
    /// A card behind a real pcscd, well behaved and not.
    @Suite struct ExchangeTests {
        @Test func aReaderIsListedWithoutAndWithItsCard() throws {
            let lab = try Lab(readers: 2)
            expect(lab.readers.count, is: 2)
            #expect(try lab.service.readers(.soon).allSatisfy { !$0.hasCard && $0.atr.isEmpty && !$0.isInUse })
            let card = try lab.plug(1)
            let now = try lab.service.readers(.soon)
            expect(now.map(\.hasCard), is: [false, true])
            expect(now[1].atr, is: VPCDCard.atr)
            let link = try lab.connect(1)
            expect(link.identity.reader, is: lab.readers[1])
            expect(link.identity.atr, is: VPCDCard.atr)
            #expect(try lab.service.readers(.soon)[1].isInUse)
            link.close()
            link.close()
            expect(card.resets, is: 0)
            #expect(throws: LinkError.removed) { try link.begin(deadline: .soon) }
            #expect(throws: LinkError.removed) { try link.exchange([0, 0, 0, 0], deadline: .soon) }
        }

        @Test func bytesGoThereAndBack() throws {
            let lab = try Lab()
            let card = try lab.plug()
            let link = try lab.connect()
            try expect(link.begin(deadline: .soon), is: false)
            try expect(link.exchange([0, 0xA4, 4, 0], deadline: .soon), is: [0, 0xA4, 4, 0, 0x90, 0])
            let long = [UInt8](repeating: 7, count: 60_000)
            try expect(link.exchange(long, deadline: .soon), is: long + [0x90, 0])
            link.end()
            try expect(link.begin(deadline: .soon), is: true)
            #expect(throws: LinkError.self) { try link.exchange([], deadline: .soon) }
            link.end()
            link.close()
            expect(card.commands.count, is: 2)
        }

        @Test func resetsAreDoneAndTold() throws {
            let lab = try Lab()
            let card = try lab.plug()
            let link = try lab.connect()
            _ = try link.begin(deadline: .soon)
            try link.reset(.warm, deadline: .soon)
            expect(card.resets, is: 1)
            link.end()
            try link.reset(.cold, deadline: .soon)
            #expect(card.powerOffs >= 1)
            try expect(link.begin(deadline: .soon), is: true)
            try expect(link.exchange([0, 1, 2, 3], deadline: .soon).suffix(2), is: [0x90, 0])
            link.end()
            link.resetsOnRelease = true
            let before = card.resets
            _ = try link.begin(deadline: .soon)
            link.end()
            try expect(link.begin(deadline: .soon), is: true)
            expect(card.resets, is: before + 1)
            link.close()
            expect(card.resets, is: before + 2)
        }

        @Test func aResetByAnotherClientLosesTheSelectionOnly() throws {
            let lab = try Lab()
            _ = try lab.plug()
            let mine = try lab.connect()
            let other = try lab.connect()
            _ = try mine.begin(deadline: .soon)
            mine.end()
            try other.reset(.warm, deadline: .soon)
            #expect(throws: LinkError.reset) { try mine.exchange([0, 1, 2, 3], deadline: .soon) }
            try expect(mine.begin(deadline: .soon), is: true)
            try expect(mine.exchange([0, 1, 2, 3], deadline: .soon).count, is: 6)
            mine.close()
            other.close()
        }

        @Test func absurdRepliesAreErrorsAndTheLinkGoesOn() throws {
            let lab = try Lab()
            _ = try lab.plug { command in
                switch command[1] {
                case 1: .reply([0x90])
                case 3: .reply([UInt8](repeating: 0xAA, count: 65_535))
                default: .reply([0x90, 0])
                }
            }
            let link = try lab.connect()
            _ = try link.begin(deadline: .soon)
            #expect(throws: LinkError.self) { try link.exchange([0, 1, 0, 0], deadline: .soon) }
            try expect(link.exchange([0, 3, 0, 0], deadline: .soon).count, is: 65_535)
            try expect(link.exchange([0, 4, 0, 0], deadline: .soon), is: [0x90, 0])
            link.close()
        }

        @Test func aCardPulledOutInTheMiddleIsRemoved() throws {
            let lab = try Lab()
            _ = try lab.plug { _ in .leave }
            let link = try lab.connect()
            _ = try link.begin(deadline: .soon)
            #expect(throws: LinkError.removed) { try link.exchange([0, 1, 2, 3], deadline: .soon) }
            link.end()
            _ = try lab.plug()
            #expect(throws: LinkError.removed) { try link.begin(deadline: .soon) }
            link.close()
            let again = try lab.connect()
            try expect(again.exchange([0, 1, 2, 3], deadline: .soon).count, is: 6)
            again.close()
        }

        @Test(arguments: [[0x00, 0xFF, 0x90], [0x00], [0xFF, 0xFF], [0x00, 0x00]] as [[UInt8]])
        func aReplyCutOffInTheMiddleIsAnError(_ bytes: [UInt8]) throws {
            let lab = try Lab()
            let card = try lab.plug { _ in .raw(bytes) }
            let link = try lab.connect()
            _ = try link.begin(deadline: .soon)
            #expect(throws: LinkError.self) { try link.exchange([0, 1, 2, 3], deadline: .after(.milliseconds(300))) }
            card.unplug()
            link.close()
        }

        @Test func silenceEndsWithTheDeadlineAndWithACancellation() throws {
            let lab = try Lab()
            let card = try lab.plug { $0[1] == 0xFF ? .silence : .reply([0x90, 0]) }
            let link = try lab.connect()
            _ = try link.begin(deadline: .soon)
            #expect(throws: LinkError.timedOut("the card's answer")) {
                try link.exchange([0, 0xFF, 2, 3], deadline: .after(.milliseconds(500)))
            }
            #expect(throws: LinkError.reset) { try link.exchange([0, 1, 2, 3], deadline: .soon) }
            #expect(throws: LinkError.timedOut("the card in \(lab.readers[0]) to be free")) {
                try link.begin(deadline: .after(.milliseconds(500)))
            }
            let cancellation = Cancellation()
            let canceller = Canceller(cancellation, after: 30_000)
            #expect(throws: LinkError.cancelled) {
                try link.begin(deadline: .after(.seconds(20), cancellation: cancellation))
            }
            #expect(canceller.elapsed() < .seconds(5))
            card.unplug()
            link.close()
        }
    }
}
