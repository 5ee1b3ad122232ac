// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKInteraction
import YKSSH
import YKTestSupport

@testable import YKKeyAgent

/// Which uses of keys the user of an agent is asked about.
struct AgentConsentTests {
    /// A user who answers as scripted, and the last answer again.
    private final class ScriptedUser: Person {
        private let answers: Mutex<[Bool?]>
        let asked = Mutex<[AgentUse]>([])

        /// - Parameter answers: `nil` for none.
        init(_ answers: Bool?...) { self.answers = Mutex(answers) }

        nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws(Declined) -> SharedSecret {
            throw .nobodyToAsk
        }

        nonisolated(nonsending) func answer<Q: Question>(_ question: Q) async throws(Declined) -> Q.Answer {
            if let use = question as? AgentUse { asked.withLock { $0.append(use) } }
            let given = answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
            guard case .agree(let answer) = question.way, let given else { throw .timedOut }
            guard given else { throw .no }
            return answer
        }
    }

    private func use(through hops: [UInt8]...) -> AgentUse { AgentUse(.decrypt, key: "PIV 82", hops: hops) }

    private func consent(_ user: ScriptedUser, always: [String] = []) throws -> AgentConsent {
        var policy = RemotePolicy()
        policy.allowedAlways = try always.map { try #require(NamePattern($0)) }
        return AgentConsent(policy, person: user)
    }

    @Test("clients of this machine only where it is required, those of others always")
    func who() throws {
        let consent = try consent(ScriptedUser(true))
        #expect(!consent.asks(use(), needsConfirmation: false))
        #expect(consent.asks(use(), needsConfirmation: true))
        #expect(consent.asks(use(through: [1]), needsConfirmation: false))
    }

    @Test("a host that is named needs no question, if all between are named")
    func named() throws {
        let names = [[1], [2]].map { SSHPublicKey.fingerprint(ofHost: $0) }
        let consent = try consent(ScriptedUser(true), always: [names[0]])
        #expect(!consent.asks(use(through: [1]), needsConfirmation: false))
        #expect(consent.asks(use(through: [1]), needsConfirmation: true), "what has to be confirmed still is")
        #expect(consent.asks(use(through: [2]), needsConfirmation: false))
        #expect(consent.asks(use(through: [1], [2]), needsConfirmation: false))
        let behind = use(through: [2], [1])
        #expect(consent.asks(behind, needsConfirmation: false), "a host could make up the one behind it")
        let all = try self.consent(ScriptedUser(true), always: ["SHA256:*"])
        #expect(!all.asks(use(through: [1], [2]), needsConfirmation: false))
    }

    @Test("a host that asks too often is not asked for, also with hosts that it makes up; others are")
    func tooMany() async throws {
        let user = ScriptedUser(false)
        let consent = try consent(user)
        for number in 0..<5 {
            await expect(consent.refusal(of: use(through: [1], [UInt8(number)])), is: .declined(.no))
        }
        await expect(consent.refusal(of: use(through: [1])), is: .tooManyQuestions)
        expect(user.asked.withLock { $0.count }, is: 5)
        await expect(consent.refusal(of: use(through: [2])), is: .declined(.no))
        for _ in 0..<6 { await expect(consent.refusal(of: use()), is: .declined(.no)) }
        expect(user.asked.withLock { $0.map(\.hops) }.suffix(7), is: [[[2]], [], [], [], [], [], []])
    }

    @Test("no answer in time is no")
    func silence() async throws {
        try await expect(consent(ScriptedUser(nil)).refusal(of: use(through: [1])), is: .declined(.timedOut))
        try await expect(consent(ScriptedUser(true)).refusal(of: use(through: [1])), is: nil)
    }
}
