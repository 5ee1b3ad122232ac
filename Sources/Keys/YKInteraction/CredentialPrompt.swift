// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// The party that is asked for a credential: a person at a terminal, through ssh-askpass, in age's dialogue or at a
/// desktop; a plan; a test.
///
/// A service may be waiting for the answer, so the prompt must never call that service.
public protocol CredentialPrompt: Sendable {
    /// Whether there is anybody to ask.
    var isThere: Bool { get }

    /// Asks for a credential; a new one twice.
    ///
    /// - Returns: The credential; `nil` if no one can be asked.
    /// - Throws: `Declined` if the user declines, or an error of its own, such as a missing terminal or an
    ///   interruption.
    nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws -> SharedSecret?
}
