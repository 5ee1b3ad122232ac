// SPDX-License-Identifier: Apache-2.0

package import YKCrypto
package import YKInteraction
import YKTransport

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

/// A question of a verb: `Asked("empty the slot?", .agree(()))`.
package struct Asked<Answer: Sendable>: Question, Worded, Hinted {
    package let words: QuestionWords
    package let way: Way<Answer>
    package let hint: String

    /// - Parameter hint: How to do without the question.
    package init(_ question: String, _ way: Way<Answer>, orElse hint: String = "answer with --force") {
        words = QuestionWords("ykit", question.hasSuffix("?") ? String(question.dropLast()) : question)
        (self.way, self.hint) = (way, hint)
    }
}

/// A question that says how to do without it.
private protocol Hinted {
    var hint: String { get }
}

extension Unanswered: Explained {
    package var explanation: Explanation {
        switch reason {
        case .no: Explanation("declined", .declined, "nothing was changed")
        case .nobodyToAsk:
            Explanation.noTerminal(reach, shown, hint: (question as? any Hinted)?.hint ?? "answer with --force")
        case .interrupted: .interrupted
        case .withdrawn, .timedOut: Explanation(reason)
        }
    }

    /// The question as it would be shown; `nil` for one that asks for a secret.
    private var shown: String? {
        guard let words = (question as? any Worded)?.words else { return nil }
        return Self.mark(question).map { words.question + $0 }
    }

    /// What follows a question; `nil` for one that asks for a secret.
    private static func mark<Q: Question>(_ question: Q) -> String? {
        switch question.way {
        case .agree, .pick: "?"
        case .type: ""
        case .secret: nil
        }
    }
}

extension Explanation {
    /// There is no terminal for a question.
    package static func noTerminal(_ reach: Presence.Reach, _ question: String? = nil, hint: String?) -> Explanation {
        let why =
            reach == .background
            ? "cannot prompt: ykit runs in the background of the terminal" : "cannot prompt without a terminal"
        return Explanation("no-terminal", .declined, why + (question.map { ": " + $0 } ?? ""), hint: hint)
    }
}

/// The person at the terminal, the only one for whom the terminal is opened.
package struct TerminalPerson: Person {
    private let variables: EnvironmentVariables
    private let cause: QuestionCause

    /// - Parameters:
    ///   - variables: Those that describe the terminal.
    ///   - cause: What causes the questions.
    package init(_ variables: EnvironmentVariables, _ cause: QuestionCause = .person) {
        (self.variables, self.cause) = (variables, cause)
    }

    package func asked(because cause: QuestionCause) -> any Person { TerminalPerson(variables, cause) }

    package var presence: Presence {
        do throws(NoTerminal) {
            let prompt = try Prompt(variables)
            var presence = Presence(.here)
            (presence.columns, presence.hasMenu) = (prompt.columns, prompt.hasMenu)
            return presence
        } catch { return Presence(error.reach) }
    }

    package func show(_ lines: [String]) throws(Declined) {
        do throws(NoTerminal) {
            let prompt = try Prompt(variables)
            for line in lines { prompt.tell(line) }
        } catch { throw .nobodyToAsk }
    }

    package func discardTyped() { _ = try? Prompt(variables).discardTyped() }

    package nonisolated(nonsending) func answer<Q: Question>(_ question: Q) async throws(Declined) -> Q.Answer {
        guard let words = (question as? any Worded)?.words else { throw .nobodyToAsk }
        let way = question.way
        let answer: Q.Answer?
        do {
            answer = try await Prompt.asking(cause, variables) { prompt in
                switch way {
                case .agree(let answer): try prompt.isAgreed(words.question + "?") ? answer : nil
                case .type(let word, let answer): try prompt.isTyped(word, words.question) ? answer : nil
                case .pick(let choices):
                    choices[try prompt.choose(words.question + "?", among: choices.map(\.label))].answer
                case .secret(let entry, let answer): answer(SharedSecret(try prompt.secret(words.question, entry)))
                }
            }
        } catch { throw reason(of: error) }
        guard let answer else { throw .no }
        return answer
    }

    /// Why the terminal gave no answer. ^D ends what the person started, and means no to a program.
    private func reason(of error: any Error) -> Declined {
        if let declined = error as? Declined { return declined }
        if error is NoTerminal { return .nobodyToAsk }
        return cause == .person || Interruption.happened ? .interrupted : .no
    }
}

extension Prompt {
    /// Asks for a secret.
    fileprivate func secret(_ question: String, _ entry: SecretEntry) throws -> Secret {
        if let lead = entry.lead { tell(lead) }
        let objection = entry.objection ?? "the password must not be empty"
        if entry.isNew { return try newSecret(question, objection, rule: entry.rule) }
        return entry.objection == nil ? try secret(question) : try neededSecret(question, objection)
    }
}

/// The person of a plan: everything that changes something is answered as if they agreed, since nothing is changed; they
/// choose nothing, and give no touch.
package struct PlannedPerson: Person {
    private let person: any Person

    package init(_ person: any Person) { self.person = person }

    package nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws -> SharedSecret {
        try await person.secret(request)
    }

    package nonisolated(nonsending) func answer<Q: Question>(_ question: Q) async throws(Declined) -> Q.Answer {
        switch question.way {
        case .agree(let answer), .type(_, let answer): answer
        case .pick: throw .nobodyToAsk
        case .secret: try await person.answer(question)
        }
    }

    package var presence: Presence {
        var presence = person.presence
        presence.hasMenu = false
        return presence
    }

    /// Shows nothing, since nothing was made.
    package func show(_ lines: [String]) {}

    package func tell(_ news: any UserNews) { person.tell(news) }
}

extension Terminal {
    /// Asks the person of the stage; the thread waits for the answer, as it does for the key.
    ///
    /// - Throws: ``Unanswered`` if the answer is no or there is none.
    package func ask<Q: Question>(_ question: Q) throws(Unanswered) -> Q.Answer {
        let person = stage.person
        let result: Result<Q.Answer, Unanswered>
        do throws(LinkError) {
            result = try ServiceRuntime.ask(stage.environment.cancellation) {
                do throws(Unanswered) { return .success(try await person.confirm(question)) } catch {
                    return .failure(error)
                }
            }
        } catch { throw Unanswered(question, .interrupted, person.presence.reach) }
        return try result.get()
    }

    /// Asks for a secret.
    ///
    /// - Parameters:
    ///   - lead: A sentence before the question.
    ///   - objection: The objection to an empty answer; `nil` if an empty answer is valid.
    ///   - isNew: Whether it is a new one, which is typed twice and not empty.
    package func secret(
        _ question: String, after lead: String? = nil, objection: String? = nil, isNew: Bool = false,
        orElse hint: String
    ) throws(Unanswered) -> SharedSecret {
        let entry = SecretEntry(lead: lead, objection: objection, isNew: isNew)
        return try ask(Asked(question, .secret(entry) { $0 }, orElse: hint))
    }

    /// Asks which of several lines is meant; returns its index.
    package func pick(_ question: String, among lines: [String]) throws(Unanswered) -> Int {
        try ask(Asked(question, .pick(lines.indices.map { (lines[$0], $0) })))
    }

    /// Whether someone can be asked.
    package var hasPerson: Bool { stage.person.presence.isHere }

    /// Shows lines to the person alone.
    ///
    /// - Throws: `Explanation` if there is no place to show them.
    package func show(_ lines: [String], orElse hint: String) throws(Explanation) {
        do throws(Declined) { try stage.person.show(lines) } catch {
            throw .noTerminal(stage.person.presence.reach, hint: hint)
        }
    }

    /// Requires someone who can be asked.
    package func requirePerson(orElse hint: String) throws(Explanation) {
        let presence = stage.person.presence
        guard presence.isHere else { throw .noTerminal(presence.reach, hint: hint) }
    }
}
