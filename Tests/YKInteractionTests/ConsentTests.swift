// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import YKInteraction

/// The rules of the questions that another end causes.
struct ConsentTests {
    private static func consent(_ time: Duration = .seconds(60)) -> Consent {
        var policy = RemotePolicy()
        policy.questionTime = time
        return Consent(policy)
    }

    private func answers(_ consent: Consent, _ answers: Bool...) async -> Bool {
        await consent.agrees({ give in for answer in answers { give(answer) } }, withdraw: {})
    }

    @Test("the first answer counts, and the question is withdrawn")
    func first() async {
        let consent = Self.consent()
        let withdrawn = Mutex(0)
        #expect(await answers(consent, true, false))
        #expect(!(await answers(consent, false, true)))
        let isYes = await consent.agrees { give in
            Task { give(true) }
        } withdraw: {
            withdrawn.withLock { $0 += 1 }
        }
        #expect(isYes && withdrawn.withLock { $0 } == 1)
    }

    @Test("five questions in a row without a yes end them for a while; a yes begins anew")
    func silence() async {
        let consent = Self.consent()
        for _ in 0..<4 { #expect(!(await answers(consent, false))) }
        #expect(!consent.isSilent)
        #expect(await answers(consent, true))
        for _ in 0..<5 {
            #expect(!consent.isSilent)
            #expect(!(await answers(consent, false)))
        }
        #expect(consent.isSilent)
    }

    @Test("no answer in time is no, and counts as one", .timeLimit(.minutes(15)))
    func late() async {
        let consent = Self.consent(.milliseconds(5))
        for _ in 0..<5 { #expect(!(await answers(consent))) }
        #expect(consent.isSilent)
    }

    @Test("a request that is cancelled is not agreed to", .timeLimit(.minutes(15)))
    func cancelled() async {
        let consent = Self.consent()
        let task = Task { await consent.agrees({ _ in }, withdraw: {}) }
        task.cancel()
        #expect(!(await task.value))
        let late = Task {
            await consent.agrees { give in
                withUnsafeCurrentTask { $0?.cancel() }
                give(true)
            } withdraw: {
            }
        }
        #expect(!(await late.value))
    }
}
