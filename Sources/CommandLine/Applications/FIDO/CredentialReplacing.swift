// SPDX-License-Identifier: Apache-2.0

import TerminalIO
package import Verbs
package import YKFIDO

/// Protects a stored credential, which a new one for the same relying party and account would replace.
package struct CredentialReplacing {
    private let run: Run
    private let service: FIDOService
    /// Whether to replace it without asking.
    private let force: Bool

    /// - Parameter force: Whether to replace it without asking.
    package init(run: Run, service: FIDOService, force: Bool) {
        (self.run, self.service, self.force) = (run, service, force)
    }

    /// Asks before a credential is replaced; a plan replaces nothing, so it does not ask.
    ///
    /// - Parameters:
    ///   - rpID: The relying party.
    ///   - userID: The account's identifier.
    ///   - whose: The account in words, such as "'ssh:', user 'bob'".
    ///   - excluded: Credentials that make the key refuse the registration, so that nothing is replaced.
    package func check(
        _ rpID: String, userID: [UInt8], whose: String, excluded: [CredentialDescriptor] = []
    ) async throws {
        guard !force, run.plan == nil else { return }  // The search would need the PIN and a touch.
        switch try await service.replacement(for: rpID, userID: userID) {
        case .none: return
        case .credential(let found) where excluded.contains { $0.id == found.id }: return
        case .credential: try run.confirm(Self.question(whose), unless: false)
        case .unknown:
            run.terminal.warn(
                "not-checked",
                "the key cannot report whether it stores a credential for \(whose), which would be replaced")
        }
    }

    /// The question before a credential is replaced.
    package static func question(_ whose: String) -> String {
        "the credential that the key stores for \(whose) would be permanently lost: replace it?"
    }
}
