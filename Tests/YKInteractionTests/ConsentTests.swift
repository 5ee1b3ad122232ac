// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKTestSupport

@testable import YKInteraction

/// The rules of the questions that another end causes.
struct ConsentTests {
    private struct Asked: Question {
        var way: Way<Void> { .agree(()) }
    }

    /// Gives the same answer each time, and counts the questions.
    private final class Answering: Person {
        let declined: Declined?
        let count = Mutex(0)

        init(_ declined: Declined? = nil) { self.declined = declined }

        nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws(Declined) -> SharedSecret {
            throw .nobodyToAsk
        }

        nonisolated(nonsending) func answer<Q: Question>(_ question: Q) async throws(Declined) -> Q.Answer {
            count.withLock { $0 += 1 }
            if let declined { throw declined }
            guard case .agree(let yes) = question.way else { throw .nobodyToAsk }
            return yes
        }
    }

    @Test("five questions in a row without a yes end them for a while; a yes begins anew")
    func silence() async {
        let (consent, yes, no) = (Consent(), Answering(), Answering(.timedOut))
        for _ in 0..<4 { await expect(consent.refusal(of: Asked(), by: no), is: .timedOut) }
        #expect(!consent.isSilent)
        await expect(consent.refusal(of: Asked(), by: yes), is: nil)
        for _ in 0..<5 {
            #expect(!consent.isSilent)
            await expect(consent.refusal(of: Asked(), by: no), is: .timedOut)
        }
        #expect(consent.isSilent)
        await expect(consent.refusal(of: Asked(), by: yes), is: .no)
        #expect(yes.count.withLock { $0 } == 1 && no.count.withLock { $0 } == 9)
    }

    @Test("a yes to a request that was cancelled does not count")
    func cancelled() async {
        let consent = Consent()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await consent.refusal(of: Asked(), by: Answering())
        }
        await expect(task.value, is: .withdrawn)
    }
}
