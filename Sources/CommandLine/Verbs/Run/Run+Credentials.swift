// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKCrypto
package import YKInteraction
package import YKPIV
package import YKProtocols
package import YKUse

extension Run {
    /// Returns the broker of this run with the credentials that a verb's options give.
    ///
    /// - Parameter cause: What causes the questions at the terminal.
    package func broker(
        _ credentials: CommandLineCredential..., cause: QuestionCause = .person
    ) -> CredentialBroker {
        let questions = Dictionary(credentials.map { ($0.kind, $0.question) }) { first, _ in first }
        return broker(credentials, person: TerminalCredentials(questions: questions, cause: cause))
    }

    /// Returns the broker of this run with other credentials and another person.
    package func broker(_ credentials: [CommandLineCredential], person: any CredentialPrompt) -> CredentialBroker {
        let planned: [any CredentialSource] = plan == nil ? [] : [PlannedCredentials()]
        return self.credentials.asking(planned + credentials, person: person)
    }

    /// Returns a PIN as the command line gives it.
    package func given(
        _ kind: CredentialKind, _ source: SecretInput.Source, isGivenNow: Bool = true
    ) -> CommandLineCredential {
        let question = TerminalQuestion(
            "PIN", of: keyWords, objection: "the PIN must not be empty", orElse: source.hint)
        return CommandLineCredential(kind, source, question, terminal, isGivenNow: isGivenNow)
    }

    /// Returns a credential for an operation that authenticates by itself.
    package func obtain(
        _ kind: CredentialKind, _ source: SecretInput.Source, _ question: TerminalQuestion,
        to purpose: String = "", triesLeft: Int? = nil, isNew: Bool = false, allowsEmpty: Bool = false,
        counting tries: CredentialBroker.Tries? = nil
    ) async throws -> SharedSecret {
        let id = CredentialID(kind, key: otherKey)
        return try await broker(CommandLineCredential(kind, source, question, terminal)).obtain(
            CredentialRequest(id, to: purpose, triesLeft: triesLeft, isNew: isNew, allowsEmpty: allowsEmpty),
            counting: tries)
    }

    // MARK: PIV

    /// Returns the access to the PIV application of the selected key.
    ///
    /// - Parameter key: The serial number of the key, for a verb that may use several.
    package func piv(
        _ service: PIVService, _ pin: PINOptions, _ management: ManagementKeyOptions = .init(), key: String? = nil
    ) -> PIVUnlocking {
        let managementKey = ofThisKey(management.source, key: key)
        let broker = broker(
            given(.pivPIN, source(of: .piv, pin, key: key)),
            CommandLineCredential(
                .pivManagementKey, managementKey,
                TerminalQuestion("management key", of: keyWords, objection: nil, orElse: managementKey.hint), terminal))
        var access = PIVUnlocking(service, broker, person, key: key ?? otherKey)
        access.refusesDefaultManagementKey = options.strict
        access.isRehearsal = plan != nil
        return access
    }

    /// Returns the current PIN or PUK.
    package func pivCode(
        _ reference: PIVReference, _ source: SecretInput.Source, of service: PIVService, for purpose: String
    ) async throws -> PIVPIN {
        let (kind, name) = reference == .pin ? (CredentialKind.pivPIN, "PIN") : (.pivPUK, "PUK")
        let question = TerminalQuestion(
            name, of: keyWords, objection: "the \(name) must not be empty", orElse: source.hint)
        let code = try await obtain(kind, source, question, to: purpose) {
            try await service.credentialTries(of: reference)
        }
        return try PIVPIN(code.value)
    }

    /// Returns a new PIN or PUK.
    package func newPIVCode(
        _ reference: PIVReference, _ source: SecretInput.Source, of service: PIVService
    ) async throws -> PIVPIN {
        let (kind, name) = reference == .pin ? (CredentialKind.pivPIN, "PIN") : (.pivPUK, "PUK")
        var question = TerminalQuestion(
            asking: "new \(name)", after: "a \(name) must have 6 to 8 characters",
            objection: "the \(name) must not be empty", orElse: source.hint)
        let least = await service.identity.leastPINLength
        question.rule = { code in
            do throws(PIVError) { try PIVPIN(code).check(reference, least: least) } catch {
                return Explanation(error).message
            }
            return nil
        }
        return try PIVPIN(try await obtain(kind, source, question, isNew: true).value)
    }

    /// Why there was no PIN for a ceremony.
    package var pinProblem: Explanation? { (pins?.problem).map { Explanation($0) } }

    // MARK: the person

    /// The person who follows this run.
    package var person: TerminalPerson { TerminalPerson(terminal: terminal, isPlan: plan != nil) }
}

/// The user at the terminal, who is told what happens, confirms and touches.
package struct TerminalPerson: UserInteraction {
    package let terminal: Terminal
    /// Whether this is a plan, in which nobody confirms or touches.
    let isPlan: Bool

    package func tell(_ news: any UserNews) {
        switch news {
        case let purpose as OperationPurpose: terminal.purpose(purpose.text)
        case PIVUnlockingNews.fingerExpected: terminal.say("put a finger on the key's sensor")
        case PIVUnlockingNews.fingerNotRecognized: terminal.notice("fingerprint not recognized; using the PIN instead")
        case PIVUnlockingNews.defaultManagementKey:
            terminal.warn(Warning(Explanation(PIVUnlockingError.defaultManagementKey)))
        case let fallback as VerificationFallback:
            let why = fallback.isBlocked ? "is blocked" : "did not recognize you"
            terminal.notice("built-in user verification \(why); using the PIN instead")
        default: break
        }
    }

    package nonisolated(nonsending) func confirm(_ question: any UserConfirmation) async throws {
        guard !isPlan else { return }
        try Prompt.confirm((question as? PIVOverwriting.Question)?.words ?? "overwrite it?")
    }

    package func expectTouch(_ touch: ExpectedTouch) -> any PendingTouch {
        guard !isPlan else { return NoPendingTouch() }
        return touch == .required ? TouchPrompt(terminal) : TouchPrompt(terminal, "touch the key if it blinks")
    }
}

/// The pending touch in a plan, in which no key waits.
private struct NoPendingTouch: PendingTouch {
    let isShown = false
    func end() {}
}

extension PIVOverwriting.Question {
    fileprivate var words: String {
        switch self {
        case .key(let algorithm, let slot):
            "the key in slot \(slot) (\(algorithm?.description ?? "of a kind that the card does not report")) "
                + "would be permanently lost: overwrite it?"
        case .certificate(let subject, let slot):
            "the certificate in slot \(slot) (\(subject?.printable ?? "one that cannot be read")) "
                + "would be lost: overwrite it?"
        case .object(let id): "the content of object \(id) would be lost: overwrite it?"
        }
    }
}
