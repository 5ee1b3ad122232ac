// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKCrypto
package import YKInteraction
import YKKeys
import YKTransport
import YKUse

/// The person and the process, through the stage of the run.
extension Run {
    /// What the run has around it.
    package var stage: Stage { terminal.stage }

    /// Who is asked and told.
    package var person: any Person { stage.person }

    /// Whether someone can be asked.
    package var hasPerson: Bool { terminal.hasPerson }

    /// Asks for yes or no; an empty line means no.
    ///
    /// - Throws: ``Unanswered`` with the question and the hint if nobody can be asked.
    package func isAgreed(_ question: String, orElse hint: String) throws(Unanswered) -> Bool {
        do { try terminal.ask(Asked(question, .agree(()), orElse: hint)) } catch {
            guard error.reason == .no else { throw error }
            return false
        }
        return true
    }

    /// The value of an environment variable; `nil` if it is not set or empty.
    package func variable(_ name: String) -> String? { stage.variables[name] }

    /// Whether ^C was pressed.
    package var isInterrupted: Bool { environment.cancellation.isCancelled }

    /// Whether the person ended the operation that failed with an error: by ^C, or by ^D at a question.
    package func isEnded(by error: any Error) -> Bool {
        isInterrupted || error as? Declined == .interrupted || (error as? Unanswered)?.reason == .interrupted
    }

    /// Throws `interrupted` after ^C.
    package func checkInterrupted() throws(Explanation) { if isInterrupted { throw .interrupted } }

    /// Sleeps until a time in seconds since 1970, ^C, or until the reader of the results closes its end, which ends the
    /// program.
    package func sleep(until end: Int64) throws { try Interruption.sleep(until: end) }

    /// Calls `body` with a descriptor that becomes readable when a signal arrives.
    package static func awake(_ body: (Int32) throws -> Void) throws { try Interruption.awake(body) }
}

/// The person of a run: asked as the stage does it, and told in the run's messages.
struct FollowingPerson: Person {
    private let person: any Person
    private let terminal: Terminal

    init(_ terminal: Terminal) { (person, self.terminal) = (terminal.stage.person, terminal) }

    var presence: Presence { person.presence }

    func asked(because cause: QuestionCause) -> any Person {
        var terminal = terminal
        terminal.stage.person = person.asked(because: cause)
        return FollowingPerson(terminal)
    }

    nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws -> SharedSecret {
        try await person.secret(request)
    }

    nonisolated(nonsending) func answer<Q: Question>(_ question: Q) async throws(Declined) -> Q.Answer {
        try await person.answer(question)
    }

    func show(_ lines: [String]) throws(Declined) { try person.show(lines) }

    func discardTyped() { person.discardTyped() }

    func tell(_ news: any UserNews) {
        switch news {
        case let purpose as OperationPurpose: terminal.purpose(purpose.text)
        case let news as PIVUnlockingNews: tell(news)
        case let fallback as VerificationFallback:
            let why = fallback.isBlocked ? "is blocked" : "did not recognize you"
            terminal.notice("built-in user verification \(why); using the PIN instead")
        default: terminal.notice("\(news)".printable)
        }
    }

    private func tell(_ news: PIVUnlockingNews) {
        switch news {
        case .fingerExpected: terminal.say("put a finger on the key's sensor")
        case .fingerNotRecognized: terminal.notice("fingerprint not recognized; using the PIN instead")
        case .defaultManagementKey: terminal.warn(Warning(.defaultManagementKey))
        }
    }

    func expectTouch(_ touch: ExpectedTouch) -> any PendingTouch {
        touch == .required ? TouchPrompt(terminal) : TouchPrompt(terminal, "touch the key if it blinks")
    }
}

extension Run {
    /// Asks the user to choose one of several candidates, if a terminal is available; for programs, and in a plan,
    /// several candidates are an error.
    ///
    /// - Throws: `failure` if nobody can be asked, `interrupted`.
    package func choose(_ question: String, among lines: [String], orElse failure: any Error) throws -> Int {
        guard terminal.isErrorTerminal, stage.streams.isInputTyped, !options.json, person.presence.hasMenu else {
            throw failure
        }
        return try terminal.pick(question, among: lines)
    }

    /// Asks the user to choose one of several attached keys.
    func chosenKey(_ interface: KeyInterface, _ candidates: [KeyCandidate]) throws -> KeyCandidate {
        let failure = Explanation(KeyError.several(interface, candidates))
        return candidates[try choose("which key?", among: failure.candidates.map(\.line), orElse: failure)]
    }

    /// The options that select the same key on another command line.
    ///
    /// - Parameter serial: The key's serial number, if it reports one.
    package func keyWords(serial: String?) -> [String] {
        if let file = options.virtual {
            return file.isEmpty || file == GlobalOptions.inMemory ? ["--virtual"] : ["--virtual=\(file)"]
        }
        let link = options.link.map { $0 == .auto ? [] : ["--link", $0.rawValue] } ?? []
        if let serial = serial ?? options.device { return ["--device", serial] + link }
        return (options.reader.map { ["--reader", $0] } ?? options.path.map { ["--path", $0] } ?? []) + link
    }
}
