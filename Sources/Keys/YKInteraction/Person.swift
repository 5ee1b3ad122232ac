// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// The person who decides: at a terminal, in a dialog of the desktop, through pinentry or ssh-askpass, in age's dialogue;
/// or the script of a test.
///
/// A person knows how to ask, not what. When the caller's task is cancelled, the question disappears at once, and
/// `withdrawn` is thrown. An answer counts for exactly one question, and only if it is whole: a line with its end.
public protocol Person: Sendable {
    /// Asks for a credential; a new one twice.
    ///
    /// - Throws: `Declined` if there is no answer. The credential is not empty unless the request allows it.
    nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws(Declined) -> SharedSecret

    /// Asks a question, and returns what the person chose.
    ///
    /// - Throws: `Declined` if the answer is no or there is none; `nobodyToAsk` also for a question without words.
    nonisolated(nonsending) func answer<Q: Question>(_ question: Q) async throws(Declined) -> Q.Answer
}

/// A question: facts, defined by the library that asks. Their words are in the module `Words`.
public protocol Question: Sendable {
    /// What an answer means to the one who asks.
    associatedtype Answer: Sendable
    /// How the question can be answered.
    var way: Way<Answer> { get }
}

/// How a question can be answered. Silence and an empty answer mean no.
public enum Way<Answer: Sendable>: Sendable {
    /// With yes, which means `Answer`, or no.
    case agree(Answer)
    /// By typing a word, before something that cannot be undone.
    case type(word: String, Answer)
    /// By choosing one of several.
    case pick([(label: String, answer: Answer)])
}

/// What causes the questions that a person is asked: a ``Person`` is created for questions of one cause.
public enum QuestionCause: Hashable, Sendable {
    /// The person started the operation and expects the question.
    case person
    /// A program did, perhaps on another machine, which can ask at any moment and withdraw what it asked. The question
    /// ends after `patience`, counted from when it is shown. An answer counts only from ``arming`` on after it is shown;
    /// a line begun before that is discarded as a whole.
    case program(patience: Duration)

    /// How long a question that a program caused is shown before an answer to it counts, so that an answer to the
    /// question before it does not.
    public static let arming = Duration.seconds(1)
}

/// Why a person gave no answer.
public enum Declined: Error, Hashable, Sendable {
    /// The answer is no.
    case no
    /// No one can be asked.
    case nobodyToAsk
    /// The question was withdrawn: the caller's task was cancelled.
    case withdrawn
    /// There was no answer in time.
    case timedOut
    /// The program was interrupted.
    case interrupted
}

/// A person as the source of a ``CredentialBroker``.
public struct PersonPrompt: CredentialPrompt {
    private let person: any Person
    /// Whether there is anybody to ask.
    public let isThere: Bool

    /// - Parameter isThere: Whether the person can be asked.
    public init(_ person: any Person, isThere: Bool = true) { (self.person, self.isThere) = (person, isThere) }

    /// Asks; `nil` if no one can be asked.
    public nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws -> SharedSecret? {
        do throws(Declined) { return try await person.secret(request) } catch .nobodyToAsk { return nil }
    }
}
