// SPDX-License-Identifier: Apache-2.0

import YKInteraction

/// The questions that a near end asks its user before the key is used, and their events.
struct NearQuestions: Sendable {
    enum Answer { case agreed, declined, withdrawn }

    private let end: NearEnd
    private let consent: Consent

    init(_ end: NearEnd) {
        self.end = end
        consent = Consent()
    }

    /// Whether the user agrees. When the task is cancelled, the question is withdrawn.
    ///
    /// - Parameters:
    ///   - asks: Whether the user is asked; `false` takes a touch of the key for consent.
    ///   - begun: Called before the question, if it may be asked.
    func answer(to ceremony: Ceremony, asks: Bool = true, begun: () -> Void = {}) async -> Answer {
        if asks, consent.isSilent {
            end.report(.refused(ceremony, .tooManyQuestions))
            return .declined
        }
        end.report(.begun(ceremony, asks: asks))
        begun()
        guard asks else { return .agreed }
        let question = end.rules.question(about: ceremony)
        guard let declined = await consent.refusal(of: question, by: end.person) else { return .agreed }
        end.report(declined == .withdrawn ? .withdrawn(ceremony) : .refused(ceremony, .declined))
        return declined == .withdrawn ? .withdrawn : .declined
    }
}
