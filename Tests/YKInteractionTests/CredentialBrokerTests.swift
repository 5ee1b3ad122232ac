// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKInteraction
import YKProtocols
import YKTestSupport

/// The rules for every credential and every source, each once.
struct CredentialBrokerTests {
    private static let pin = CredentialID(.pivPIN, key: "1")
    private let person = ScriptedPerson()

    private func request(_ id: CredentialID = pin, triesLeft: Int? = nil, isNew: Bool = false) -> CredentialRequest {
        CredentialRequest(id, to: "sign", triesLeft: triesLeft, isNew: isNew)
    }

    private func broker(_ sources: [Given] = [], lifetime: Duration? = nil) -> CredentialBroker {
        CredentialBroker(sources, person: person, lifetime: lifetime)
    }

    /// Uses a credential on a key that knows the right one.
    @discardableResult
    private func use(
        _ broker: CredentialBroker, _ request: CredentialRequest, right: String = "123456", left: Int? = 2
    ) async throws -> String {
        try await broker.use(request) { secret in
            let text = String(decoding: secret.copyBytes(), as: UTF8.self)
            guard text == right else { throw Refusal(refusedCredential: .init(request.id.kind, triesLeft: left)) }
            return text
        }
    }

    // MARK: Where it comes from

    @Test func sourcesAreAskedInOrderAndThenThePerson() async throws {
        let broker = broker([Given(nil), Given("123456")])
        try await expect(use(broker, request()), is: "123456")
        #expect(person.requests.isEmpty)
        person.answers = ["123456"]
        let other = self.broker([Given(nil)])
        try await expect(use(other, request()), is: "123456")
        expect(person.requests, is: [request()])
    }

    @Test func nobodyToAskIsAnErrorOfItsOwn() async throws {
        person.isThere = false
        await #expect(throws: CredentialError.nobodyToAsk(Self.pin)) { try await use(broker(), request()) }
    }

    @Test func aNoIsNoPIN() async throws {
        await #expect(throws: CredentialError.declined(Self.pin)) { try await use(broker(), request()) }
    }

    @Test func anEmptyOneIsNeverSent() async throws {
        await #expect(throws: CredentialError.empty(Self.pin)) {
            try await use(broker([Given("")]), request(), right: "")
        }
        person.answers = [""]
        await #expect(throws: CredentialError.empty(Self.pin)) { try await use(broker(), request(), right: "") }
    }

    // MARK: What is held

    @Test func whatWasAcceptedIsHeld() async throws {
        person.answers = ["123456"]
        let broker = broker()
        for _ in 1...3 { try await use(broker, request()) }
        expect(person.requests.count, is: 1)
        broker.forget(Self.pin)
        await #expect(throws: CredentialError.declined(Self.pin)) { try await use(broker, request()) }
    }

    @Test func whatWasNotAcceptedIsNotHeld() async throws {
        person.answers = ["111111", "123456"]
        let broker = broker()
        await #expect(throws: Lost.self) {
            try await broker.use(request()) { _ -> Void in throw Lost() }
        }
        try await expect(use(broker, request()), is: "123456")
    }

    @Test func aZeroLifetimeHoldsNothing() async throws {
        person.answers = ["123456", "123456"]
        let broker = broker(lifetime: .zero)
        for _ in 1...2 { try await use(broker, request()) }
        expect(person.requests.count, is: 2)
    }

    @Test func aLifetimeEndsWithoutAnotherUse() async throws {
        weak var held: SharedSecret?
        let broker = broker(lifetime: .milliseconds(50))
        do {
            let secret = SharedSecret(Secret(utf8: "123456"))
            held = secret
            person.secrets = [secret]
        }
        try await use(broker, request())
        person.secrets = []
        while held != nil { await Task.yield() }
        await #expect(throws: CredentialError.declined(Self.pin)) { try await use(broker, request()) }
    }

    @Test("of another key, or of another kind, is another credential")
    func belongsToOneKeyAndOneKind() async throws {
        person.answers = ["123456"]
        let broker = broker()
        try await use(broker, request())
        for other in [
            CredentialID(.pivPIN, key: "2"), CredentialID(.fidoPIN, key: "1"), .init(.pivPIN, key: "1", name: "a"),
        ] {
            await #expect(throws: CredentialError.declined(other)) { try await use(broker, request(other)) }
        }
    }

    @Test func aNewOneIsAlwaysAskedFor() async throws {
        person.answers = ["123456", "654321"]
        let broker = broker()
        try await use(broker, request())
        try await expect(use(broker, request(isNew: true), right: "654321"), is: "654321")
    }

    // MARK: Tries

    @Test func nobodyIsAskedWhenNoTriesAreLeft() async throws {
        person.answers = ["123456"]
        await #expect(throws: CredentialError.blocked(Self.pin)) {
            try await use(broker([Given("123456")]), request(triesLeft: 0))
        }
        #expect(person.requests.isEmpty)
    }

    @Test func whatWasRefusedIsNotSentAgain() async throws {
        let broker = broker([Given("000000")])
        await #expect(throws: Refusal.self) { try await use(broker, request()) }
        person.isThere = false
        await #expect(throws: CredentialError.refusedBefore(Self.pin)) { try await use(broker, request()) }
        person.isThere = true
        person.answers = ["000000", "123456"]
        await #expect(throws: CredentialError.refusedBefore(Self.pin)) { try await use(broker, request()) }
        try await expect(use(broker, request()), is: "123456")
    }

    @Test("what was set beforehand or is held is not sent at the last try")
    func theLastTryIsThePersons() async throws {
        let stored = broker([Given("123456", isGivenNow: false)])
        await #expect(throws: CredentialError.declined(Self.pin)) { try await use(stored, request(triesLeft: 1)) }
        person.isThere = false
        await #expect(throws: CredentialError.lastTry(Self.pin)) { try await use(stored, request(triesLeft: 1)) }
        try await expect(use(stored, request(triesLeft: 2)), is: "123456")
        await #expect(throws: CredentialError.lastTry(Self.pin)) { try await use(stored, request(triesLeft: 1)) }
        person.isThere = true
        person.answers = ["123456"]
        try await expect(use(stored, request(triesLeft: 1)), is: "123456")
        expect(person.requests.last?.triesLeft, is: 1)
        let given = broker([Given("123456")])
        try await expect(use(given, request(triesLeft: 1)), is: "123456")
    }

    @Test func theTriesOfARefusalCount() async throws {
        let broker = broker([Given("123456", isGivenNow: false)])
        person.isThere = false
        await #expect(throws: Refusal.self) { try await use(broker, request(), right: "999999", left: 1) }
        await #expect(throws: CredentialError.lastTry(Self.pin)) { try await use(broker, request()) }
        await #expect(throws: CredentialError.blocked(Self.pin)) { try await use(broker, request(triesLeft: 0)) }
    }

    @Test func aRefusalOfAnotherCredentialIsNone() async throws {
        let broker = broker([Given("123456")])
        await #expect(throws: Refusal.self) {
            try await broker.use(request()) { _ -> Void in
                throw Refusal(refusedCredential: .init(.pivManagementKey, triesLeft: nil))
            }
        }
        try await expect(use(broker, request()), is: "123456")
    }

    @Test func aCeremonyThatAuthenticatesByItselfTellsTheOutcome() async throws {
        person.answers = ["000000", "123456"]
        let broker = broker()
        #expect(try await broker.obtain(request()).value == Secret(utf8: "000000"))
        broker.refused(Self.pin, triesLeft: 7)
        #expect(try await broker.obtain(request()).value == Secret(utf8: "123456"))
        broker.accepted(Self.pin)
        #expect(try await broker.obtain(request()).value == Secret(utf8: "123456"))
        expect(person.requests.count, is: 2)
    }

    // MARK: Tries that cost an exchange

    @Test("tries are read before a person is asked, and not for what is given now")
    func triesAreReadWhenTheyMatter() async throws {
        let reads = Reads()
        let given = broker([Given("123456")])
        _ = try await given.obtain(request()) { reads.count(5) }
        expect(reads.number, is: 0)
        person.answers = ["123456"]
        _ = try await broker().obtain(request()) { reads.count(3) }
        #expect(reads.number == 1 && person.requests.last?.triesLeft == 3)
        await #expect(throws: CredentialError.blocked(Self.pin)) {
            _ = try await broker().obtain(request()) { reads.count(0) }
        }
        let stored = broker([Given("123456", isGivenNow: false)])
        person.isThere = false
        await #expect(throws: CredentialError.lastTry(Self.pin)) {
            _ = try await stored.obtain(request()) { reads.count(1) }
        }
        expect(reads.number, is: 3)
    }

    // MARK: Several brokers

    @Test func brokersOfOneRunKnowTheSame() async throws {
        person.answers = ["123456"]
        let first = broker()
        let second = first.asking([Given("000000")], person: person)
        try await use(first, request())
        #expect(second.isAtHand(request()))
        try await expect(use(second, request()), is: "123456")
        second.forget(Self.pin)
        await #expect(throws: Refusal.self) { try await use(second, request()) }
        let third = first.asking([Given("000000")], person: person)
        #expect(!third.isAtHand(request()))
        await #expect(throws: CredentialError.declined(Self.pin)) { try await use(third, request()) }
    }

    @Test func whatIsForOnceIsNotHeld() async throws {
        person.answers = ["123456", "123456", "123456"]
        let broker = broker()
        let once = CredentialRequest(Self.pin, to: "sign", isForOnce: true)
        for _ in 1...2 { try await use(broker, once) }
        #expect(!broker.isAtHand(request()))
        try await use(broker, request())
        #expect(broker.isAtHand(request()) && !broker.isAtHand(once))
        expect(person.requests.count, is: 3)
    }

    @Test func anEmptyOneMayBeTheDefault() async throws {
        let request = CredentialRequest(.init(.hsmAuthManagementKey, key: nil), to: "sign", allowsEmpty: true)
        try await expect(use(broker([Given("")]), request, right: ""), is: "")
    }

    @Test func thePersonsOwnErrorIsKept() async throws {
        person.failure = Lost()
        await #expect(throws: Lost.self) { try await use(broker(), request()) }
    }

    // MARK: Several at once

    @Test func twoUsesAskOnce() async throws {
        person.answers = ["123456"]
        let broker = broker()
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 1...8 { group.addTask { try await self.use(broker, self.request()) } }
            for try await text in group { expect(text, is: "123456") }
        }
        expect(person.requests.count, is: 1)
    }

    @Test func theFirstQuestionIsTheOnlyOne() async throws {
        person.answers = ["123456", "123456"]
        let (broker, asked, mayAnswer) = (broker(), Signal(), Signal())
        person.onAsked = {
            asked.send()
            await mayAnswer.wait()
        }
        let first = Task { try await use(broker, request()) }
        await asked.wait()
        let second = Task { try await use(broker, request()) }
        for _ in 1...100 { await Task.yield() }
        expect(person.requests.count, is: 1)
        mayAnswer.send()
        try await expect([first.value, second.value], is: ["123456", "123456"])
        expect(person.requests.count, is: 1)
    }

    @Test func whoIsCancelledWhileWaitingAsksNothing() async throws {
        person.answers = ["123456"]
        let (broker, asked, mayAnswer) = (broker(), Signal(), Signal())
        person.onAsked = {
            asked.send()
            await mayAnswer.wait()
        }
        let first = Task { try await use(broker, request()) }
        await asked.wait()
        let second = Task { try await use(broker, request()) }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        mayAnswer.send()
        try await expect(first.value, is: "123456")
        expect(person.requests.count, is: 1)
    }
}

/// Counts how often the tries are read.
private final class Reads: Sendable {
    private let state = Mutex(0)
    var number: Int { state.withLock { $0 } }

    func count(_ left: Int) -> CredentialTries {
        state.withLock { $0 += 1 }
        return CredentialTries(left: left, isFactoryDefault: false)
    }
}
