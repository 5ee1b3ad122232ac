// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// Whoever is asked for a credential: a person at a terminal, behind ssh-askpass, in age's dialogue, at a desktop; a
/// plan; a test.
///
/// It is asked while a service may be waiting for the answer, and never calls that service.
public protocol CredentialPrompt: Sendable {
    /// Whether there is anybody to ask.
    var isThere: Bool { get }

    /// Asks for a credential; a new one twice.
    ///
    /// - Returns: The credential; `nil` if no one can be asked.
    /// - Throws: `Declined` for a no, and errors of its own: there is no terminal, the question was interrupted.
    nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws -> SharedSecret?
}

/// A question that was answered with no, or not at all.
public struct Declined: Error, Hashable, Sendable {
    /// A refusal.
    public init() {}
}
