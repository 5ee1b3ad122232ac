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
        request.id.kind == kind && (given.withLock { $0 != nil } || source.isGiven)
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

    /// Creates a question without its purpose.
    package init(asking label: String, after lead: String? = nil, objection: String? = nil, orElse hint: String) {
        (self.label, self.lead, self.objection, self.hint) = (label, lead, objection, hint)
        noun = ""
    }

    /// Asks.
    ///
    /// - Throws: `Explanation` if there is no terminal, or if the answer was interrupted; `Declined` if there is none.
    package nonisolated(nonsending) func ask(
        _ request: CredentialRequest, _ cause: QuestionCause = .person
    ) async throws -> SharedSecret {
        try await Prompt.asking(cause, orElse: hint) { try ask(request, $0) }
    }

    private func ask(_ request: CredentialRequest, _ prompt: borrowing Prompt) throws -> SharedSecret {
        if let asker {
            prompt.tell("\(asker) requires its \(noun) to \(request.purpose)" + details(request))
        } else if let lead {
            prompt.tell(lead + details(request))
        }
        if request.isNew {
            return SharedSecret(
                try prompt.newSecret(label, objection ?? "the password must not be empty", rule: rule))
        }
        return SharedSecret(try objection.map { try prompt.neededSecret(label, $0) } ?? prompt.secret(label))
    }

    /// The form of the credential and the tries that are left, in parentheses.
    private func details(_ request: CredentialRequest) -> String {
        let tries = request.triesLeft.map(Tries.next)
        let origin = request.triesLeft != nil && request.isFactoryDefault == true ? "still the factory default" : nil
        let facts = [asker == nil ? nil : request.form, tries, origin].compactMap(\.self)
        return facts.isEmpty ? "" : " (\(facts.joined(separator: "; ")))"
    }
}

/// The user at the terminal, who is asked for credentials.
package struct TerminalCredentials: CredentialPrompt {
    package let questions: [CredentialKind: TerminalQuestion]
    private let cause: QuestionCause

    package init(questions: [CredentialKind: TerminalQuestion], cause: QuestionCause = .person) {
        (self.questions, self.cause) = (questions, cause)
    }

    package var isThere: Bool { (try? Prompt(orElse: "")) != nil }

    package nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws -> SharedSecret? {
        try await questions[request.id.kind]?.ask(request, cause)
    }
}

/// Placeholders for the credentials of a plan, which neither needs nor asks for any. A management key has no
/// placeholder, since the following steps depend on it.
package struct PlannedCredentials: CredentialSource {
    package let isGivenNow = true

    package init() {}

    /// Always false: a plan shows what would be read before a question.
    package func has(_ request: CredentialRequest) -> Bool { false }

    package nonisolated(nonsending) func credential(_ request: CredentialRequest) async throws -> SharedSecret? {
        guard request.id.kind != .pivManagementKey else { return nil }
        return SharedSecret(Secret(utf8: request.id.kind.placeholder))
    }
}
