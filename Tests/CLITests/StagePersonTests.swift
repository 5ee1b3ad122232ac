// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKInteraction
import YKTestSupport

@testable import TerminalIO

/// The persons of a stage, and what is said of a question without an answer.
@Suite struct StagePersonTests {
    private struct Unworded: Question { var way: Way<Void> { .agree(()) } }

    private func reason<Answer>(_ question: Asked<Answer>, _ person: any Person) async -> Declined? {
        do throws(Declined) { _ = try await person.answer(question) } catch { return error }
        return nil
    }

    @Test func aPlanAgreesAndChoosesNothing() async throws {
        let asked = ScriptedPerson("typed", agrees: true)
        let plan = PlannedPerson(asked)
        await expect(reason(Asked("empty it?", .agree(())), plan), is: nil)
        await expect(reason(Asked("all is lost", .type(word: "reset", ())), plan), is: nil)
        await expect(reason(Asked("which?", .pick([("a", 1), ("b", 2)])), plan), is: .nobodyToAsk)
        #expect(asked.questions.isEmpty, "nobody was asked")
        let secret = try await plan.answer(Asked("PIN", .secret(SecretEntry()) { $0 }))
        expect(
            secret.value.copyBytes(), is: Array("typed".utf8),
            "a secret that the plan needs to read the key is asked for"
        )
        try plan.show(["a new key"])
        #expect(asked.shown.isEmpty && !plan.expectTouch(.required).isShown)
        #expect(plan.presence.isHere && !plan.presence.hasMenu)
    }

    @Test func withoutAnAnswerTheQuestionAndItsHintAreSaid() async throws {
        let question = Asked("empty slot 1?", .agree(()), orElse: "answer with --yes")
        for (reach, why) in [
            (Presence.Reach.absent, "cannot prompt without a terminal: empty slot 1?"),
            (.background, "cannot prompt: ykit runs in the background of the terminal: empty slot 1?"),
        ] {
            let unanswered = Unanswered(question, .nobodyToAsk, reach)
            #expect(unanswered.explanation.message == why && unanswered.explanation.hint == "answer with --yes")
        }
        let declined = Unanswered(question, .no, .here)
        expect(declined.explanation.message, is: "nothing was changed")
        expect(Unanswered(question, .interrupted, .here).explanation.exit, is: .interrupted)
        let secret = Asked("PIN", .secret(SecretEntry()) { $0 }, orElse: "give it with --pin-fd")
        let nobody = Unanswered(secret, .nobodyToAsk, .absent)
        expect(
            nobody.explanation.message, is: "cannot prompt without a terminal", "the label of a secret is no question")
    }

    @Test func aQuestionWithoutWordsIsNeverAsked() async {
        let error = await #expect(throws: Unanswered.self) {
            try await TerminalPerson(Stage.live.variables).confirm(Unworded())
        }
        expect(error?.reason, is: .nobodyToAsk)
    }
}
