// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import YKCrypto
package import YKInteraction
package import YKProtocols

/// A credential of one kind as the command line gives it, in an option, a descriptor or a variable. Read once.
package final class CommandLineCredential: CredentialSource {
    package let kind: CredentialKind
    /// The question that asks the user for it at the terminal.
    package let question: TerminalQuestion
    /// Whether it was given for this key, shortly before its use.
    package let isGivenNow: Bool
    private let source: SecretInput.Source
    private let terminal: Terminal
    private let given = Mutex<SharedSecret?>(nil)

    package init(
        _ kind: CredentialKind, _ source: SecretInput.Source, _ question: TerminalQuestion, _ terminal: Terminal,
        isGivenNow: Bool = true
    ) {
        (self.kind, self.source, self.question, self.terminal) = (kind, source, question, terminal)
        self.isGivenNow = isGivenNow
    }

    package func has(_ request: CredentialRequest) -> Bool {
        request.id.kind == kind && (given.withLock { $0 != nil } || source.isGiven(terminal))
    }

    package nonisolated(nonsending) func credential(_ request: CredentialRequest) async throws -> SharedSecret? {
        request.id.kind == kind ? try read() : nil
    }

    /// Reads it while standard input is still available.
    @discardableResult
    package func read() throws -> SharedSecret? {
        if let known = given.withLock({ $0 }) { return known }
        guard let read = try source.given(terminal) else { return nil }
        given.withLock { $0 = read }
        return read
    }
}

/// A question at the terminal that asks for a credential.
package struct TerminalQuestion: Sendable {
    /// How it can be given without a question.
    package let hint: String
    /// Who requires it, in the sentence that states its purpose; `nil` for no such sentence.
    package var asker: String?
    /// Its name in the sentence.
    package var noun: String
    /// A separate sentence before the question.
    package var lead: String?
    /// The question.
    package let label: String
    /// The objection to an empty answer; `nil` if an empty answer is valid.
    package var objection: String?
    /// Returns why a new credential that was typed is invalid, so that it is asked for again.
    package var rule: @Sendable (borrowing Secret) -> String? = { _ in nil }

    /// Creates a question that states the purpose of the credential.
    package init(
        _ noun: String, of asker: String, label: String? = nil, objection: String?, orElse hint: String
    ) {
        (self.noun, self.asker, self.label, self.objection) = (noun, asker, label ?? noun, objection)
        self.hint = hint
    }

    /// Creates the question for a credential that is used.
    package init(_ kind: CredentialKind, of asker: String, orElse hint: String) {
        self.init(kind.noun, of: asker, objection: "the \(kind.noun) must not be empty", orElse: hint)
    }

    /// Creates a question without its purpose.
    package init(asking label: String, after lead: String? = nil, objection: String? = nil, orElse hint: String) {
        (self.label, self.lead, self.objection, self.hint) = (label, lead, objection, hint)
        noun = ""
    }

    /// Asks a person.
    ///
    /// - Throws: `Unanswered` if there is no one to ask; `Declined` if there is no answer.
    package nonisolated(nonsending) func ask(
        _ request: CredentialRequest, _ person: any Person
    ) async throws -> SharedSecret {
        let lead = asker.map { "\($0) requires its \(noun) to \(request.purpose)" } ?? lead
        let entry = SecretEntry(
            lead: lead.map { $0 + details(request) }, objection: objection, isNew: request.isNew, rule: rule)
        do {
            return try await person.confirm(Asked(label, .secret(entry) { $0 }, orElse: hint))
        } catch {
            if error.reason == .nobodyToAsk { throw error }
            throw error.reason
        }
    }

    /// The form of the credential and the tries that are left, in parentheses.
    private func details(_ request: CredentialRequest) -> String {
        let tries = request.triesLeft.map(Tries.next)
        let origin = request.triesLeft != nil && request.isFactoryDefault == true ? "still the factory default" : nil
        let facts = [asker == nil ? nil : request.form, tries, origin].compactMap(\.self)
        return facts.isEmpty ? "" : " (\(facts.joined(separator: "; ")))"
    }
}

/// A person who is asked for credentials with the words of a verb.
package struct WordedCredentials: Person {
    private let questions: [CredentialKind: TerminalQuestion]
    private let person: any Person

    package init(_ person: any Person, questions: [CredentialKind: TerminalQuestion] = [:]) {
        (self.person, self.questions) = (person, questions)
    }

    package var presence: Presence { person.presence }

    package nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws -> SharedSecret {
        guard let question = questions[request.id.kind] else { throw Declined.nobodyToAsk }
        return try await question.ask(request, person)
    }

    package nonisolated(nonsending) func answer<Q: Question>(_ question: Q) async throws(Declined) -> Q.Answer {
        try await person.answer(question)
    }
}

/// Stand-ins for the credentials of a plan, which neither needs nor asks for any.
package struct PlannedCredentials: CredentialSource {
    package let isGivenNow = true

    package init() {}

    /// Always false: a plan shows what would be read before a question.
    package func has(_ request: CredentialRequest) -> Bool { false }

    package nonisolated(nonsending) func credential(_ request: CredentialRequest) async throws -> SharedSecret? {
        request.id.kind.standIn.map { SharedSecret(Secret(utf8: $0)) }
    }
}
