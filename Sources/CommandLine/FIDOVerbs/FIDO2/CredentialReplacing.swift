// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKFIDO

/// Protects a stored credential, which a new one for the same relying party and account would replace.
struct CredentialReplacing {
    let run: Run
    let service: FIDOService
    /// Whether to replace it without asking.
    let force: Bool

    /// Asks before a credential is replaced; a plan replaces nothing, so it does not ask.
    ///
    /// - Parameters:
    ///   - rpID: The relying party.
    ///   - userID: The account's identifier.
    ///   - whose: The account in words, such as "'ssh:', user 'bob'".
    ///   - excluded: Credentials that make the key refuse the registration, so that nothing is replaced.
    func check(
        _ rpID: String, userID: [UInt8], whose: String, excluded: [CredentialDescriptor] = []
    ) async throws {
        guard !force, run.plan == nil else { return }
        switch try await service.replacement(for: rpID, userID: userID) {
        case .none: return
        case .credential(let found) where excluded.contains { $0.id == found.id }: return
        case .credential: try Prompt.confirm(Self.question(whose))
        case .unknown:
            run.terminal.warn(
                "the key cannot report whether it stores a credential for \(whose), which would be replaced")
        }
    }

    /// The question before a credential is replaced.
    static func question(_ whose: String) -> String {
        "the key stores a credential for \(whose): replace it? it cannot be recovered"
    }
}
