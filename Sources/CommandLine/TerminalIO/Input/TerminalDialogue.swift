// SPDX-License-Identifier: Apache-2.0

package import YKCrypto
package import YKInteraction
package import YKProtocols

/// A question with its words. Those of a library's question are in `Words`; one without words is never asked.
package protocol Worded {
    /// The words.
    var words: QuestionWords { get }
}

/// The words of a question.
package struct QuestionWords: Hashable, Sendable {
    /// The title of a dialog or notification.
    package let title: String
    /// The question, without the question mark.
    package let question: String

    package init(_ title: String, _ question: String) { (self.title, self.question) = (title, question) }
}

/// The person at the terminal.
package struct TerminalDialogue: Person {
    private let questions: [CredentialKind: TerminalQuestion]
    private let cause: QuestionCause

    /// - Parameters:
    ///   - cause: What causes the questions.
    ///   - questions: The questions that ask for a credential.
    package init(_ cause: QuestionCause, questions: [CredentialKind: TerminalQuestion] = [:]) {
        (self.cause, self.questions) = (cause, questions)
    }

    package nonisolated(nonsending) func secret(
        _ request: CredentialRequest
    ) async throws(Declined) -> SharedSecret {
        guard let question = questions[request.id.kind] else { throw .nobodyToAsk }
        do { return try await question.ask(request, cause) } catch { throw Declined(error) }
    }

    package nonisolated(nonsending) func answer<Q: Question>(_ question: Q) async throws(Declined) -> Q.Answer {
        guard let words = (question as? any Worded)?.words else { throw .nobodyToAsk }
        let way = question.way
        let answer: Q.Answer?
        do {
            answer = try await Prompt.asking(cause, orElse: "") { prompt in
                switch way {
                case .agree(let answer): try prompt.isAgreed(words.question + "?") ? answer : nil
                case .type(let word, let answer): try prompt.isTyped(word, words.question) ? answer : nil
                case .pick(let choices):
                    choices[try prompt.choose(words.question + "?", among: choices.map(\.label))].answer
                }
            }
        } catch { throw Declined(error) }
        guard let answer else { throw .no }
        return answer
    }
}

extension Declined {
    /// Why the terminal gave no answer: ^D means no.
    fileprivate init(_ error: any Error) {
        if let declined = error as? Declined {
            self = declined
        } else if Interruption.happened {
            self = .interrupted
        } else {
            self = (error as? Explanation)?.code == "no-terminal" ? .nobodyToAsk : .no
        }
    }
}
