// SPDX-License-Identifier: Apache-2.0

import CPCSC
import Glibc
import Synchronization
import Testing
import YKTestSupport
import YKTransport

@testable import YKHardware

/// What is asked of the library, and how much of its answers is believed.
@Suite struct SessionTests {
    @Test func aRawCardIsReachedWhenItSpeaksNeitherProtocol() throws {
        let asked = Mutex<[DWORD]>([])
        let service = FakeLibrary().service {
            $0.connect = { _, _, _, protocols, card, active in
                asked.withLock { $0.append(protocols) }
                card.pointee = 7
                active.pointee = 4
                return protocols == 4 ? 0 : LONG(0x8010_000F)
            }
        }
        let link = try service.connect(reader: "R", share: .shared, deadline: .soon)
        try link.reset(.cold, deadline: .soon)
        link.close()
        expect(asked.withLock { $0 }, is: [3, 4])
    }

    @Test("a card whose protocol another program changed is connected to again")
    func anotherProtocol() throws {
        let connects = Mutex(0)
        let transmits = Mutex(0)
        let service = FakeLibrary().service {
            $0.connect = { _, _, _, _, card, active in
                let count = connects.withLock { count in
                    count += 1
                    return count
                }
                card.pointee = 7
                active.pointee = DWORD(SCARD_PROTOCOL_T1)
                return count <= 2 ? LONG(0x8010_000F) : 0
            }
            let transmit = $0.transmit
            $0.transmit = { card, header, bytes, count, reply, length in
                let isFirst = transmits.withLock { count in
                    count += 1
                    return count == 1
                }
                return isFirst ? LONG(0x8010_000F) : transmit(card, header, bytes, count, reply, length)
            }
        }
        let link = try service.connect(reader: "R", share: .shared, deadline: .soon)
        expect(connects.withLock { $0 }, is: 3)  // Twice for each protocol, and again.
        #expect(throws: LinkError.reset) { try link.exchange([0, 0xA4, 4, 0], deadline: .soon) }
        #expect(try link.begin(deadline: .soon))
        try expect(link.exchange([0, 0xA4, 4, 0], deadline: .soon).suffix(2), is: [0x90, 0])
        expect(connects.withLock { $0 }, is: 4)
        link.close()
    }

    @Test(
        arguments: [
            ([0, 0xA4, 4, 0, 1, 9, 0], [0, 0xA4, 4, 0, 1, 9]), ([0, 0xA4, 4, 0, 1, 9], [0, 0xA4, 4, 0, 1, 9]),
            ([0, 0xA4, 4, 0, 0], [0, 0xA4, 4, 0, 0]), ([0, 1, 2, 3], [0, 1, 2, 3]),
            ([0, 1, 0, 0, 0, 0, 1, 9, 0], [0, 1, 0, 0, 0, 0, 1, 9, 0]),
        ] as [([UInt8], [UInt8])])
    func overT0ACommandWithDataHasNoLe(_ command: [UInt8], _ sent: [UInt8]) throws {
        let service = FakeLibrary().service {
            $0.connect = { _, _, _, _, card, active in
                card.pointee = 7
                active.pointee = DWORD(SCARD_PROTOCOL_T0)
                return 0
            }
        }
        let link = try service.connect(reader: "R", share: .shared, deadline: .soon)
        try expect(link.exchange(command, deadline: .soon), is: sent + [0x90, 0])
        link.close()
    }

    @Test(arguments: [(0, 261), (255, 261), (256, 265), (3062, 3071), (0x10000, 65544), (UInt32.max, 65544)])
    func theReaderSaysHowLongACommandMayBe(_ size: UInt32, _ length: Int) throws {
        let service = FakeLibrary().service {
            $0.control = { _, code, _, _, reply, _, count in
                let answer: [UInt8] =
                    code == ReaderFeatures.featureRequest
                    ? [0x06, 4, 0x42, 0, 0, 6, 0x12, 4, 0x42, 0x33, 0, 0x12]
                    : [0x01, 1, 0, 0x0A, 4] + (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) }
                for (index, byte) in answer.enumerated() { reply?[index] = byte }
                count.pointee = DWORD(answer.count)
                return 0
            }
        }
        let link = try service.connect(reader: "R", share: .shared, deadline: .soon)
        expect(link.identity.maxCommandLength, is: length)
        link.close()
    }

    @Test(arguments: [[], [0x12], [0x12, 4, 0], [0x12, 5, 1, 2, 3, 4, 5], [0x0A, 2, 1, 2]] as [[UInt8]])
    func brokenFeaturesSayNothing(_ bytes: [UInt8]) {
        expect(ReaderFeatures.controlCode(of: 0x12, in: bytes), is: nil)
        expect(ReaderFeatures.maxCommandLength(in: bytes), is: nil)
    }

    @Test func lengthsBeyondTheRoomAreNotBelieved() throws {
        let service = FakeLibrary().service {
            $0.transmit = { _, _, _, _, _, length in
                length.pointee = DWORD.max
                return 0
            }
            $0.status = { _, _, _, _, length in
                length.pointee = DWORD.max
                return 0
            }
            $0.control = { _, _, _, _, _, _, length in
                length.pointee = DWORD.max
                return 0
            }
        }
        let link = try service.connect(reader: "R", share: .shared, deadline: .soon)
        expect(link.identity.atr.count, is: 33)
        expect(link.identity.maxCommandLength, is: nil)
        #expect(throws: LinkError.self) { try link.exchange([0, 1, 2, 3], deadline: .soon) }
    }

    @Test func manyReadersWithLongNamesAreListed() throws {
        let names = (0..<40).map { "\($0) " + String(repeating: "x", count: 120) }
        let service = FakeLibrary().service { $0.listReaders = { FakeLibrary.list(names, $1, $2) } }
        try expect(service.readers(.soon).map(\.name), is: names)
        let endless = FakeLibrary().service { $0.listReaders = { _, _, _ in LONG(0x8010_0008) } }
        #expect(throws: LinkError.self) { try endless.readers(.soon) }
    }

    @Test func noReaderIsAnEmptyListAndNoReaderToConnectTo() throws {
        let service = FakeLibrary().service {
            $0.listReaders = { _, _, _ in LONG(0x8010_002E) }
            $0.connect = { _, _, _, _, _, _ in LONG(0x8010_0009) }
        }
        #expect(try service.readers(.soon).isEmpty)
        #expect(throws: LinkError.noReader) { try service.connect(reader: "R", share: .shared, deadline: .soon) }
    }

    @Test func aReaderThatIsFoundWhileWeLookIsConnectedTo() throws {
        let fake = FakeLibrary()
        let service = fake.service { table in
            let connect = table.connect
            table.connect = {
                fake.count("late") == 0 ? fake.note("late") + LONG(0x8010_0009) : connect($0, $1, $2, $3, $4, $5)
            }
        }
        try service.connect(reader: "R", share: .shared, deadline: .soon).close()
        expect(fake.count("connect"), is: 1)
    }

    @Test func aRestartedServiceIsConnectedToAnew() throws {
        let fake = FakeLibrary()
        let service = fake.service { table in
            table.beginTransaction = { _ in
                fake.count("begin") == 0 ? fake.note("begin") + LONG(0x8010_0003) : fake.note("begin")
            }
        }
        let link = try service.connect(reader: "R", share: .shared, deadline: .soon)
        try expect(link.begin(deadline: .soon), is: true)
        link.close()
        expect(fake.count("establish"), is: 2)
        expect(fake.count("connect"), is: 2)
        expect(fake.calls.withLock { $0.last }, is: "disconnect 0")
    }

    @Test func workersAndContextsAreUsedAgain() throws {
        let fake = FakeLibrary()
        let service = fake.service()
        for _ in 0..<5 {
            _ = try service.readers(.soon)
            try service.connect(reader: "R", share: .shared, deadline: .soon).close()
        }
        expect(fake.count("establish"), is: 1)
        let both = [
            try service.connect(reader: "R", share: .shared, deadline: .soon),
            try service.connect(reader: "R", share: .shared, deadline: .soon),
        ]
        both.forEach { $0.close() }
        expect(fake.count("establish"), is: 2)
    }
}
