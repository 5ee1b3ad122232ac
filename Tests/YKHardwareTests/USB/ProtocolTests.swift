// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport

@testable import YKHardware
@testable import YKTransport
@testable import YKWire

/// T=1 and T=0 with cards that make mistakes.
@Suite struct ProtocolTests {
    /// Runs an exchange with blocks of a card in order; gives the response and what was sent.
    private func t1(
        _ command: [UInt8], size: UInt8? = nil, _ blocks: [[UInt8]]
    ) -> (Result<[UInt8], LinkError>, [[UInt8]]) {
        var exchange = T1Exchange(.init(protocolNumber: 1, a: size))
        var (sent, rest) = ([[UInt8]](), blocks[...])
        let result = attempt { () throws(LinkError) in
            try exchange.exchange(command) { block, _ throws(LinkError) in
                sent.append(block)
                guard let next = rest.popFirst() else { throw .timedOut("a block") }
                return next
            }
        }
        return (result, sent)
    }

    private func info(_ number: UInt8, _ data: [UInt8], more: Bool = false) -> [UInt8] {
        T1Block(.information(number: number, isMore: more), data).encoded()
    }
    private func ready(_ number: UInt8, _ error: UInt8 = 0) -> [UInt8] {
        T1Block(.ready(number: number, error: error)).encoded()
    }

    @Test func chainsBothWays() throws {
        let command = [UInt8](0..<70)
        let (result, sent) = t1(
            command, size: 32,
            [ready(1), ready(0), info(0, [1, 2], more: true), info(1, [0x90, 0])])
        try expect(result.get(), is: [1, 2, 0x90, 0])
        #expect(sent.count == 4 && sent[0][1] == 0x20 && sent[1][1] == 0x60 && sent[2][1] == 0x00)
        expect(sent[3], is: ready(1))
    }

    @Test func faultsAreMendedButNotForEver() throws {
        let good = info(0, [0x90, 0])
        var bad = good
        bad[4] ^= 1
        try expect(t1([1, 2, 3, 4], [bad, bad, good]).0.get(), is: [0x90, 0])
        try expect(t1([1, 2, 3, 4], [[], info(1, [1]), ready(0, 1), good]).0.get(), is: [0x90, 0])
        let (result, sent) = t1([1, 2, 3, 4], [ready(0, 1), good])
        #expect(try result.get() == [0x90, 0] && sent[0] == sent[1])
        #expect(throws: LinkError.self) { try t1([1], [bad, bad, bad, bad, good]).0.get() }
        #expect(throws: LinkError.self) { try t1([1], [[UInt8]](repeating: ready(0), count: 9)).0.get() }
    }

    @Test func requestsOfTheCard() throws {
        let wait = T1Block(.supervisory(.moreTime, isResponse: false), [3]).encoded()
        let size = T1Block(.supervisory(.size, isResponse: false), [8]).encoded()
        let (result, sent) = t1([UInt8](0..<40), [size, ready(1), wait, info(0, [0x90, 0])])
        try expect(result.get(), is: [0x90, 0])
        expect(sent[1], is: T1Block(.supervisory(.size, isResponse: true), [8]).encoded())
        expect(sent[2].count, is: 12)
        let response = T1Block(.supervisory(.moreTime, isResponse: true), [3]).encoded()
        try expect(t1([1], [wait, info(0, [0x90, 0])]).0.get(), is: [0x90, 0])
        expect(t1([1], [wait, info(0, [0x90, 0])]).1[1], is: response)
        let abort = T1Block(.supervisory(.abort, isResponse: false)).encoded()
        #expect(throws: LinkError.self) { try t1([1], [abort]).0.get() }
        let odd = T1Block(.supervisory(.init(rawValue: 9), isResponse: false)).encoded()
        #expect(throws: LinkError.self) { try t1([1], [odd, odd, odd, odd]).0.get() }
        #expect(throws: LinkError.self) { try t1([1], [[UInt8]](repeating: wait, count: 10_001)).0.get() }
        #expect(throws: LinkError.self) { try t1([1], [response, response, response, response]).0.get() }
    }

    @Test func endlessResponsesEnd() {
        let part = [UInt8](repeating: 0, count: 254)
        let blocks = (0..<300).map { info(UInt8($0 % 2), part, more: true) }
        #expect(throws: LinkError.self) { try t1([1], blocks).0.get() }
    }

    @Test func theSizeOfBlocksIsOffered() throws {
        var exchange = T1Exchange(nil)
        try exchange.offer(254) { block, _ in
            expect(block, is: [0, 0xC1, 1, 0xFE, 0x3E])
            return [0, 0xE1, 1, 0xFE, 0x1E]
        }
        expect(exchange.ownSize, is: 254)
        try exchange.offer(300) { _, _ in [] }
        expect(exchange.ownSize, is: 254)
        var other = T1Exchange(.init(protocolNumber: 1, a: 0, c: 1))
        try other.offer(100) { _, _ in [0, 0, 0] }
        #expect(other.ownSize == 32 && other.cardSize == 1)
    }

    @Test func t0CollectsAndCorrects() throws {
        func exchange(_ command: [UInt8], _ replies: [[UInt8]]) throws -> ([UInt8], [[UInt8]]) {
            var (sent, rest) = ([[UInt8]](), replies[...])
            let reply = try T0Exchange.exchange(command) { tpdu throws(LinkError) in
                sent.append(tpdu)
                guard let next = rest.popFirst() else { throw .timedOut("a TPDU") }
                return next
            }
            return (reply, sent)
        }
        try expect(exchange([0, 1, 2, 3], [[0x90, 0]]).1, is: [[0, 1, 2, 3, 0]])
        try expect(
            exchange([0, 1, 2, 3, 0], [[0x6C, 2], [7, 7, 0x90, 0]]).1, is: [[0, 1, 2, 3, 0], [0, 1, 2, 3, 2]])
        let case4: [UInt8] = [0, 1, 2, 3, 1, 9, 0]
        let (reply, sent) = try exchange(case4, [[0x61, 2], [0x6C, 1], [7, 0x90, 0]])
        expect(reply, is: [7, 0x90, 0])
        expect(sent, is: [[0, 1, 2, 3, 1, 9], [0, 0xC0, 0, 0, 2], [0, 0xC0, 0, 0, 1]])
        try expect(exchange(case4, [[0x6A, 0x80]]).0, is: [0x6A, 0x80])
        try expect(exchange([0, 1, 2, 3, 1, 9], [[0x61, 2]]).0, is: [0x61, 2])
        #expect(throws: LinkError.self) { try exchange([0, 1], []) }
        #expect(throws: LinkError.self) { try exchange([UInt8](repeating: 0, count: 300), []) }
        let endless = [[0x61, 2]] + [[UInt8]](repeating: [0x6C, 2], count: 300)
        try expect(exchange(case4, endless).0, is: [0x6C, 2])
    }
}
