// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// The person who decides and is told what happens: at a terminal, in a dialog of the desktop, through pinentry or
/// ssh-askpass, in age's dialogue; the plan of an operation, or the script of a test.
///
/// A person knows how to ask, not what. When the caller's task is cancelled, the question disappears at once, and
/// `withdrawn` is thrown. An answer counts for exactly one question, and only if it is whole: a line with its end.
public protocol Person: Sendable {
    /// Asks for a credential; a new one twice. It is not empty unless the request allows it. A service may be waiting for the
    /// answer, so the person must not call one.
    ///
    /// - Throws: `Declined` if there is no answer, or an error of the person's own that says more than `nobodyToAsk`.
    nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws -> SharedSecret

    /// Asks a question, and returns what the person chose.
    ///
    /// - Throws: `Declined` if the answer is no or there is none; `nobodyToAsk` also for a question without words.
    nonisolated(nonsending) func answer<Q: Question>(_ question: Q) async throws(Declined) -> Q.Answer

    /// Whether the person can be asked now. Nothing is shown to find out.
    var presence: Presence { get }

    /// Returns the same person for questions of another cause.
    func asked(because cause: QuestionCause) -> any Person

    /// Shows lines to the person alone, never among results: a secret that is shown once, or what a question is about.
    ///
    /// - Throws: `nobodyToAsk` if there is no place to show them.
    func show(_ lines: [String]) throws(Declined)

    /// Discards what was typed for a question that is over.
    func discardTyped()

    /// Reports a warning or a step.
    func tell(_ news: any UserNews)

    /// Begins to wait for a touch. The key may answer immediately, so the person is notified only if the wait continues.
    func expectTouch(_ touch: ExpectedTouch) -> any PendingTouch
}

/// A person who is asked for no credentials and for one cause only; another one is told what happens.
extension Person {
    /// Gives none.
    public nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws -> SharedSecret {
        throw Declined.nobodyToAsk
    }
    /// Here.
    public var presence: Presence { Presence(.here) }
    /// This person.
    public func asked(because cause: QuestionCause) -> any Person { self }
    /// Shows nothing.
    public func show(_ lines: [String]) throws(Declined) { throw .nobodyToAsk }
    /// Has nothing to discard.
    public func discardTyped() {}
    /// Tells nobody.
    public func tell(_ news: any UserNews) {}
    /// Tells nobody.
    public func expectTouch(_ touch: ExpectedTouch) -> any PendingTouch { UntoldTouch() }
}

/// A person who cannot be asked.
public struct NoPerson: Person {
    /// Nobody.
    public let presence = Presence(.absent)
    /// Creates it.
    public init() {}
    /// Gives no answer.
    public nonisolated(nonsending) func answer<Q: Question>(_ question: Q) async throws(Declined) -> Q.Answer {
        throw .nobodyToAsk
    }
}

/// A wait for a touch of which nobody is told.
public struct UntoldTouch: PendingTouch {
    /// False.
    public let isShown = false
    /// A wait.
    public init() {}
    /// Does nothing.
    public func end() {}
}

/// Whether a person can be asked, and what the place of the question offers.
public struct Presence: Hashable, Sendable {
    /// Whether a person can be asked.
    public enum Reach: Hashable, Sendable {
        /// Someone can be asked.
        case here
        /// There is a terminal, but the program runs in its background.
        case background
        /// There is no place for a question.
        case absent
    }

    /// Whether a person can be asked.
    public var reach: Reach
    /// The width of the place in columns.
    public var columns = 80
    /// Whether one of several is chosen in a menu.
    public var hasMenu = false

    /// Describes a place.
    public init(_ reach: Reach) { self.reach = reach }

    /// Whether someone can be asked.
    public var isHere: Bool { reach == .here }
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
    /// By typing a secret that is not shown.
    case secret(SecretEntry, @Sendable (SharedSecret) -> Answer)
}

/// How a secret is asked for.
public struct SecretEntry: Sendable {
    /// A sentence before the question.
    public var lead: String?
    /// The objection to an empty answer; `nil` if an empty answer is valid.
    public var objection: String?
    /// Whether it is a new secret, which is typed twice and not empty.
    public var isNew: Bool
    /// Returns why a new secret is invalid, so that it is asked for again.
    public var rule: @Sendable (borrowing Secret) -> String?

    /// Describes the entry.
    public init(
        lead: String? = nil, objection: String? = nil, isNew: Bool = false,
        rule: @escaping @Sendable (borrowing Secret) -> String? = { _ in nil }
    ) {
        (self.lead, self.objection, self.isNew, self.rule) = (lead, objection, isNew, rule)
    }
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

/// A question without the answer that an operation needs.
public struct Unanswered: Error {
    /// The question.
    public let question: any Question
    /// Why there is no answer.
    public let reason: Declined
    /// Whether the person could be asked.
    public let reach: Presence.Reach

    package init(_ question: any Question, _ reason: Declined, _ reach: Presence.Reach) {
        (self.question, self.reason, self.reach) = (question, reason, reach)
    }
}

extension Person {
    /// Asks what must be answered before an operation continues.
    ///
    /// - Throws: ``Unanswered`` with the question if the answer is no or there is none.
    public nonisolated(nonsending) func confirm<Q: Question>(_ question: Q) async throws(Unanswered) -> Q.Answer {
        do { return try await answer(question) } catch {
            throw Unanswered(question, error, presence.reach)
        }
    }
}

/// Something to report: a value defined by the reporting library, which the program puts into words.
public protocol UserNews: Sendable {}

/// The purpose of the exchanges that follow: `sign a file`.
public struct OperationPurpose: UserNews, Hashable {
    /// The purpose, as the end of "to …".
    public let text: String
    /// Names a purpose.
    public init(_ text: String) { self.text = text }
}

/// Whether a key waits for a touch.
public enum ExpectedTouch: Hashable, Sendable {
    /// It waits, unless it was touched just before.
    case required
    /// The key does not report whether this use requires one.
    case possible
}

/// A wait for a touch, which lasts until it is ended.
public protocol PendingTouch: Sendable {
    /// Whether the person was told.
    var isShown: Bool { get }

    /// Ends the wait: the key has answered.
    func end()
}

/// The person was told to touch the key, but did not do so in time.
public struct TouchMissed: Error, Hashable, Sendable {
    /// A missed touch.
    public init() {}
}
