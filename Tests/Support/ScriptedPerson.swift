// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import YKCrypto
package import YKInteraction

/// A person who gives these answers in turn, and then declines; and who confirms, or does not.
package final class ScriptedPerson: Person {
    private struct State {
        var secrets: [SharedSecret]
        var requests: [CredentialRequest] = []
        var news: [String] = []
        var questions: [String] = []
        var touches: [ExpectedTouch] = []
        var shown: [String] = []
        var isThere = true
        var failure: (any Error)?
        var onAsked: @Sendable () async -> Void = {}
    }

    private let state: Mutex<State>
    private let agrees: Bool

    package init(_ answers: String..., agrees: Bool = true) {
        state = Mutex(State(secrets: answers.map { YKTestSupport.secret($0) }))
        self.agrees = agrees
    }

    /// The answers to come.
    package var secrets: [SharedSecret] {
        get { state.withLock { $0.secrets } }
        set { state.withLock { $0.secrets = newValue } }
    }
    /// The answers to come, as texts.
    package var answers: [String] {
        get { secrets.map { String(decoding: $0.value.copyBytes(), as: UTF8.self) } }
        set { secrets = newValue.map { YKTestSupport.secret($0) } }
    }
    /// The credentials that were asked for.
    package var requests: [CredentialRequest] { state.withLock { $0.requests } }
    /// What was reported.
    package var news: [String] { state.withLock { $0.news } }
    /// What was to be confirmed.
    package var questions: [String] { state.withLock { $0.questions } }
    /// The touches that were waited for.
    package var touches: [ExpectedTouch] { state.withLock { $0.touches } }
    /// What was shown to the person alone.
    package var shown: [String] { state.withLock { $0.shown } }
    /// Whether there is anybody.
    package var isThere: Bool {
        get { state.withLock { $0.isThere } }
        set { state.withLock { $0.isThere = newValue } }
    }
    /// What asking fails with.
    package var failure: (any Error)? {
        get { state.withLock { $0.failure } }
        set { state.withLock { $0.failure = newValue } }
    }
    /// What happens before an answer.
    package var onAsked: @Sendable () async -> Void {
        get { state.withLock { $0.onAsked } }
        set { state.withLock { $0.onAsked = newValue } }
    }

    package nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws -> SharedSecret {
        guard isThere else { throw Declined.nobodyToAsk }
        state.withLock { $0.requests.append(request) }
        await onAsked()
        if let failure { throw failure }
        let answer = state.withLock { $0.secrets.isEmpty ? nil : $0.secrets.removeFirst() }
        guard let answer else { throw Declined.no }
        return answer
    }

    package func tell(_ news: any UserNews) { state.withLock { $0.news.append("\(news)") } }

    package nonisolated(nonsending) func answer<Q: Question>(_ question: Q) async throws(Declined) -> Q.Answer {
        guard isThere else { throw .nobodyToAsk }
        state.withLock { $0.questions.append("\(question)") }
        guard agrees else { throw .no }
        switch question.way {
        case .agree(let answer), .type(_, let answer): return answer
        case .pick(let choices): return choices[0].answer
        case .secret(_, let answer):
            guard let secret = state.withLock({ $0.secrets.isEmpty ? nil : $0.secrets.removeFirst() }) else {
                throw .no
            }
            return answer(secret)
        }
    }

    package var presence: Presence { Presence(isThere ? .here : .absent) }

    package func show(_ lines: [String]) { state.withLock { $0.shown += lines } }

    package func expectTouch(_ touch: ExpectedTouch) -> any PendingTouch {
        state.withLock { $0.touches.append(touch) }
        return Wait()
    }

    private struct Wait: PendingTouch {
        let isShown = true
        func end() {}
    }
}
