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
        return broker(credentials, person: WordedCredentials(person.asked(because: cause), questions: questions))
    }

    /// Returns the broker of this run with other credentials and another person.
    package func broker(_ credentials: [CommandLineCredential], person: any Person) -> CredentialBroker {
        self.credentials.asking(standIns + credentials, person: person)
    }

    /// Returns a PIN as the command line gives it.
    package func given(
        _ kind: CredentialKind, _ source: SecretInput.Source, isGivenNow: Bool = true
    ) -> CommandLineCredential {
        let question = TerminalQuestion(kind, of: keyWords, orElse: source.hint)
        return CommandLineCredential(kind, source, question, terminal, isGivenNow: isGivenNow)
    }

    /// Returns a credential for an operation that authenticates by itself.
    ///
    /// - Parameter question: The question, unless it is the usual one for a credential that is used.
    package func obtain(
        _ kind: CredentialKind, _ source: SecretInput.Source, _ question: TerminalQuestion? = nil,
        to purpose: String = "", triesLeft: Int? = nil, isNew: Bool = false, allowsEmpty: Bool = false,
        counting tries: CredentialBroker.Tries? = nil
    ) async throws -> SharedSecret {
        let id = CredentialID(kind, key: otherKey)
        let question = question ?? TerminalQuestion(kind, of: keyWords, orElse: source.hint)
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
            given(.pivPIN, source(of: .pivPIN, pin, key: key)),
            CommandLineCredential(
                .pivManagementKey, managementKey,
                TerminalQuestion("management key", of: keyWords, objection: nil, orElse: managementKey.hint), terminal))
        let access = PIVUnlocking(service, broker, person, key: key ?? otherKey)
        access.refusesDefaultManagementKey = options.strict
        rehearse { access.isRehearsal = true }
        return access
    }

    /// Returns the current PIN or PUK.
    package func pivCode(
        _ reference: PIVReference, _ source: SecretInput.Source, of service: PIVService, for purpose: String
    ) async throws -> PIVPIN {
        let code = try await obtain(reference == .pin ? .pivPIN : .pivPUK, source, to: purpose) {
            try await service.credentialTries(of: reference)
        }
        return try PIVPIN(code.value)
    }

    /// Returns a new PIN or PUK.
    package func newPIVCode(
        _ reference: PIVReference, _ source: SecretInput.Source, of service: PIVService
    ) async throws -> PIVPIN {
        let kind = reference == .pin ? CredentialKind.pivPIN : .pivPUK
        var question = TerminalQuestion(
            asking: "new \(kind.noun)", after: "a \(kind.noun) must have 6 to 8 characters",
            objection: "the \(kind.noun) must not be empty", orElse: source.hint)
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
}
