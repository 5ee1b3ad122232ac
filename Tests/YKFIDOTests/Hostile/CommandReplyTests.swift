// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKWire

/// Every answer to every CTAP2 command, replaced by each answer that is not to be believed: a typed error, no trap.
struct CommandReplyTests {
    @Test(arguments: Operation.all)
    func goodAnswersAreGood(_ operation: Operation) async throws {
        let log = ScriptedKey.Log()
        try await operation.play(operation.answers.map(\.reply), log)
        expect(log.messages.count, is: operation.answers.count)
        expect(log.tries, is: 0)
    }

    @Test(arguments: Operation.all)
    func badAnswersAreErrors(_ operation: Operation) async throws {
        for (place, answer) in operation.answers.enumerated() {
            var bad = Poison.always
            if case .map(let map) = answer {
                // Odd members of getInfo are passed over: see OddAnswerTests.
                if map[4]?.map?["clientPin"] == nil { bad += Poison.wrongKinds(map) }
                bad.append(("status alone", [0x00]))
                bad.append(("an empty map", [0x00, 0xA0]))
                bad.append(("one byte more", answer.reply + [0x00]))
            }
            for (name, reply) in bad {
                var replies = operation.answers.map(\.reply)
                replies[place] = reply
                let log = ScriptedKey.Log()
                await #expect(throws: FIDOError.self, "answer \(place): \(name)") {
                    try await operation.play(replies, log)
                }
                expect(log.messages.count, is: place + 1, "nothing is sent after answer \(place): \(name)")
            }
        }
    }

    /// Every length that an answer can be cut to.
    @Test(arguments: Operation.all)
    func everyTruncation(_ operation: Operation) async throws {
        for (place, answer) in operation.answers.enumerated() where place > 0 {
            for count in 0..<answer.reply.count {
                var replies = operation.answers.map(\.reply)
                replies[place] = Array(answer.reply.prefix(count))
                await #expect(throws: FIDOError.self) { try await operation.play(replies) }
            }
        }
    }

    /// A key that accepts a change and does not make it: no success is reported.
    @Test func aChangeIsReadBack() async throws {
        let changes = ["toggleAlwaysUv", "enableEnterpriseAttestation", "enableLongTouchForReset"]
        for operation in Operation.all where changes.contains(operation.name) {
            var replies = operation.answers.map(\.reply)
            replies[replies.count - 1] = CBOR.map(Operation.info).reply
            do {
                try await operation.play(replies)
                Issue.record("\(operation.name) is taken for done")
            } catch FIDOError.notApplied {}
        }
    }

    @Test(arguments: [UInt64(4097), 1 << 32, 1 << 63, .max])
    func listsAreNotLongerThanAnyKeyHas(_ count: UInt64) async throws {
        let lists: [(CBOR.Map, CBOR, @Sendable (FIDOService) async throws -> Void)] = [
            (
                Operation.signed, 5,
                { _ = try await $0.assert(AssertionRequest(rpID: "example.com", clientDataHash: hash)) }
            ), (Operation.party, 5, { _ = try await $0.relyingParties() }),
        ]
        for (map, key, run) in lists {
            let log = ScriptedKey.Log()
            let key = ScriptedKey(
                [CBOR.map(Operation.info).reply, CBOR.map(map.with(key, .unsigned(count))).reply], log: log)
            key.isEndless = true
            let service = try await FIDOService.open(key)
            await #expect(throws: FIDOError.self) { try await run(service) }
            expect(log.messages.count, is: 2)
        }
    }

    /// A list of 4096 entries that comes so slowly that the time is over first.
    @Test func listsEndInTime() async throws {
        let now = ContinuousClock.now
        var environment = ServiceEnvironment.instant
        environment.timeout = .milliseconds(50)
        for (map, number) in [(Operation.signed, 5), (Operation.party, 5)] as [(CBOR.Map, Int64)] {
            let first = CBOR.map(map.with(.int(number), 4096)).reply
            let slow: @Sendable ([UInt8]) -> [UInt8] = { _ in
                while now.duration(to: .now) < .milliseconds(60) {}
                return CBOR.map(map).reply
            }
            let key = ScriptedKey(
                [{ _ in CBOR.map(Operation.info).reply }, { _ in first }, slow], environment: environment)
            key.isEndless = true
            let service = try await FIDOService.open(key)
            await #expect(throws: FIDOError.self) {
                if number == 5, map == Operation.party {
                    _ = try await service.relyingParties()
                } else {
                    _ = try await service.assert(AssertionRequest(rpID: "example.com", clientDataHash: hash))
                }
            }
        }
    }

    @Test func aLargeBlobArrayEnds() async throws {
        let full = CBOR.map([1: .bytes(.init(repeating: 0, count: 1200 - 64))]).reply
        let log = ScriptedKey.Log()
        let key = ScriptedKey([CBOR.map(Operation.info).reply, full], log: log)
        key.isEndless = true
        let service = try await FIDOService.open(key)
        await #expect(throws: FIDOError.largeBlobs(.damaged)) { try await service.largeBlobUsage() }
        #expect(log.messages.count < 10)
    }
}
