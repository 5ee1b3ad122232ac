// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKHTTP
import YKPIV
import YKTestSupport
import YKWire

@testable import YKApproval

/// Delivered and polled requests, each told once.
@Suite("Watching requests") struct RequestWatchTests {
    private let vectors: PushVectors
    private let account: PushAccount

    init() throws {
        vectors = try PushVectors()
        account = try Self.account(vectors, .software)
    }

    private static func account(_ vectors: PushVectors, _ place: ApprovalKeyPlace) throws -> PushAccount {
        let link =
            "otpauth://pipush/A?url=https%3A//pi.example/ttype/push&ttl=10&issuer=pi&enrollment_credential="
            + "9311ee50678983c0f29d3d843f86e39405e2b427&v=1&serial=\(PushVectors.serial)&sslverify=1"
        return PushAccount(
            try PushLink(link), name: "alice", serverKey: vectors.server.publicKey, publicKey: vectors.device.publicKey,
            place: place, address: nil, trust: HTTPTrust(), added: 0)
    }

    private func nonce(_ number: Int) -> String { Base32.encode(Array("nonce \(number)".utf8), padded: false) }

    private func body(_ challenge: JSONValue, wrapped: Bool = true) -> [UInt8] {
        Array((wrapped ? ["to": "topic", "push": challenge] : challenge).text.utf8)
    }

    private func poll(_ challenges: [JSONValue], faults: [PushRequestFault] = []) throws -> PushPoll {
        PushPoll(requests: try challenges.map { try vectors.request($0) }, faults: faults, clockBehind: nil)
    }

    /// A watch that tests can ask inside an expectation.
    private final class Watching {
        private var watch: RequestWatch
        var counts: RequestWatch.Counts { watch.counts }

        init(_ accounts: [PushAccount], answered: [(account: String, nonce: String)] = []) {
            watch = RequestWatch(accounts, answered: answered)
        }

        func take(delivered body: [UInt8]) -> RequestWatch.Found? { watch.take(delivered: body) }
        func take(_ poll: PushPoll, of account: PushAccount) -> [RequestWatch.Found] { watch.take(poll, of: account) }
        func forget(_ found: RequestWatch.Found) { watch.forget(found) }
    }

    /// A schedule likewise.
    private final class Scheduling {
        private(set) var schedule: PollSchedule

        init(every interval: Duration) { schedule = PollSchedule(every: interval) }

        func afterSuccess(_ chance: Double) -> Duration { schedule.afterSuccess(chance) }
        func afterFailure(_ chance: Double) -> Duration { schedule.afterFailure(chance) }
    }

    @Test("a delivered request is told once, in either form, also when it is polled")
    func once() throws {
        let watch = Watching([account])
        let challenge = try vectors.challenge()
        let found = try #require(watch.take(delivered: body(challenge)))
        #expect(found.request.nonce == PushVectors.nonce && found.account == account && !found.isPolled)
        expect(watch.take(delivered: body(challenge, wrapped: false)), is: nil)
        #expect(watch.take(try poll([challenge]), of: account).isEmpty)
        expect(watch.counts, is: RequestWatch.Counts(reported: 1, repeated: 1, unverified: 0))
    }

    @Test("a polled request is told once, and not again when it is delivered") func polled() throws {
        let watch = Watching([account])
        let first = try vectors.challenge(nonce: nonce(1))
        let second = try vectors.challenge(nonce: nonce(2))
        expect(watch.take(try poll([first]), of: account).map(\.request.nonce), is: [nonce(1)])
        expect(watch.take(try poll([first, second]), of: account).map(\.isPolled), is: [true])
        expect(watch.take(delivered: body(second)), is: nil)
        #expect(watch.take(try poll([], faults: [.signature]), of: account).isEmpty)
        expect(watch.counts, is: RequestWatch.Counts(reported: 2, repeated: 1, unverified: 1))
    }

    @Test("what no server of an account signed is counted and not told") func unverified() throws {
        let watch = Watching([account])
        let good = try vectors.challenge()
        var forged = try #require(good.object)
        forged["question"] = "Pay 12.50 CHF to MALLORY?"
        let others: [[UInt8]] = [
            body(.object(forged)), body(try vectors.challenge(serial: "PIPU00000001")),
            body(try vectors.challenge(url: "https://evil.example/ttype/push")), body(["push": good]), body([]),
            [], Array("{".utf8), [0xFF], Array(String(repeating: "[", count: 60_000).utf8), Array("[]".utf8),
        ]
        for other in others { expect(watch.take(delivered: other), is: nil) }
        expect(watch.counts, is: RequestWatch.Counts(reported: 0, repeated: 0, unverified: others.count))
        #expect(watch.take(delivered: body(good)) != nil)
    }

    @Test("what was answered is not told again; what could not be told is") func history() throws {
        let watch = Watching([account], answered: [(account.account.id, nonce(1))])
        expect(watch.take(delivered: body(try vectors.challenge(nonce: nonce(1)))), is: nil)
        let second = body(try vectors.challenge(nonce: nonce(2)))
        let found = try #require(watch.take(delivered: second))
        watch.forget(found)
        expect(watch.counts.reported, is: 0)
        #expect(watch.take(delivered: second) != nil && watch.counts.reported == 1)
    }

    @Test("what is remembered is bounded, and the oldest is forgotten first") func memory() throws {
        let many = (0..<RequestWatch.memory).map { (account: account.account.id, nonce: "old \($0)") }
        let watch = Watching([account], answered: [(account.account.id, nonce(1))] + many.dropLast())
        let first = body(try vectors.challenge(nonce: nonce(1)))
        expect(watch.take(delivered: first), is: nil)
        #expect(watch.take(delivered: body(try vectors.challenge(nonce: nonce(2)))) != nil)
        #expect(watch.take(delivered: first) != nil)
    }

    @Test("polls are spread, and rarer while a server does not answer") func schedule() {
        let schedule = Scheduling(every: .seconds(10))
        #expect(schedule.afterSuccess(0) == .seconds(8) && schedule.afterSuccess(1) == .seconds(12))
        #expect(schedule.afterSuccess(0.5) == .seconds(10) && schedule.afterSuccess(7) == .seconds(12))
        expect((0..<5).map { _ in schedule.afterFailure(0.5) }, is: [20, 40, 80, 80, 80].map { .seconds($0) })
        for _ in 0..<100 { expect(schedule.afterFailure(1), is: .seconds(96)) }
        #expect(schedule.afterSuccess(0.5) == .seconds(10) && schedule.schedule.failures == 0)
        let usual = Scheduling(every: .seconds(60))
        expect((0..<4).map { _ in usual.afterFailure(0.5) }, is: [120, 240, 300, 300].map { .seconds($0) })
        let rare = Scheduling(every: .seconds(3600))
        expect(rare.afterFailure(0.5), is: .seconds(3600))
    }

    @Test(
        "what a poll costs",
        arguments: [
            (TouchPolicy.never, PushAccount.PollCost.nothing), (.default, .nothing), (.cached, .someTouches),
            (.always, .touch),
            (TouchPolicy(rawValue: 9), .touch),
        ])
    func cost(policy: TouchPolicy, cost: PushAccount.PollCost) throws {
        let slot = try #require(PIVSlot("82"))
        let place = PIVKeyPlace(
            slot: slot, keySerial: nil, policies: KeyPolicies(pin: .once, touch: policy), attestation: nil)
        try expect(Self.account(vectors, .piv(place)).pollCost, is: cost)
        expect(account.pollCost, is: .nothing)
    }
}
