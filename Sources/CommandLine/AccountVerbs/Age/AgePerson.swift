// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKAge
import YKCrypto
import YKInteraction

/// The user of age, who is asked through age's dialogue.
struct AgePerson: Person {
    private let dialogue: AgeDialogue
    private let key: String?

    /// - Parameter key: The serial number of the key whose PIN is asked for, if it is known.
    init(_ dialogue: AgeDialogue, key: String? = nil) { (self.dialogue, self.key) = (dialogue, key) }

    nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws(Declined) -> SharedSecret {
        let secret: SharedSecret?
        do { secret = try dialogue.secret(ConsentWords.pin(request, key: key)) } catch { throw .withdrawn }
        guard let secret else { throw .no }
        return secret
    }

    /// age shows a question with one or two answers.
    nonisolated(nonsending) func answer<Q: Question>(_ question: Q) async throws(Declined) -> Q.Answer {
        guard let words = (question as? any Worded)?.words.question else { throw .nobodyToAsk }
        switch question.way {
        case .agree(let answer):
            guard try confirms(words + "?", yes: "Yes", no: "No") else { throw .no }
            return answer
        case .pick(let choices) where choices.count == 2:
            return try confirms(words, yes: choices[0].label, no: choices[1].label)
                ? choices[0].answer : choices[1].answer
        case .type, .pick, .secret: throw .nobodyToAsk
        }
    }

    private func confirms(_ question: String, yes: String, no: String) throws(Declined) -> Bool {
        do { return try dialogue.confirms(question, yes: yes, no: no) } catch { throw .withdrawn }
    }
}

/// Whether a key that an identity names, and that is not plugged in, is plugged in now.
struct MissingKey: Question, Worded {
    /// Its serial number, if the identity has it.
    let serial: UInt32?

    var way: Way<Bool> { .pick([("It is plugged in", true), ("Skip it", false)]) }

    var words: QuestionWords {
        QuestionWords(
            "age", serial.map { "Insert the key with serial number \($0)." } ?? "Insert the key for this identity.")
    }
}
