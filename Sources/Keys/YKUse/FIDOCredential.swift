// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import YKCrypto
public import YKFIDO
public import YKInteraction

/// The PIN of a FIDO key's ceremonies, from a broker: `FIDOService.open(link, interaction: credential.interaction)`.
public final class FIDOCredential: Sendable {
    private let credentials: CredentialBroker
    private let id: CredentialID
    private let purpose: String
    private let isForOnce: Bool
    private let person: any Person
    private let failure = Mutex<(any Error)?>(nil)

    /// - Parameters:
    ///   - id: The credential: its kind is `fidoPIN`.
    ///   - purpose: What the PIN is for, as the end of "to …".
    ///   - isForOnce: Whether the user enters it for each ceremony.
    public init(
        _ credentials: CredentialBroker, _ id: CredentialID, to purpose: String, isForOnce: Bool = false,
        _ person: any Person
    ) {
        (self.credentials, self.id, self.purpose) = (credentials, id, purpose)
        (self.isForOnce, self.person) = (isForOnce, person)
    }

    /// Why the broker had no PIN for the last ceremony, which then failed with `pinNeeded`.
    public var problem: (any Error)? { failure.withLock { $0 } }

    /// The interaction to pass to a service.
    public var interaction: FIDOInteraction {
        var interaction = FIDOInteraction(pin: { await self.pin($0) })
        interaction.pinOutcome = { self.takeNote($0) }
        // A PIN that was not given for this use is not sent on the last try, so the tries must be read.
        interaction.hasPIN = credentials.isAtHand(
            CredentialRequest(id, to: purpose, triesLeft: 1, isForOnce: isForOnce))
        return interaction
    }

    /// Returns the PIN for a ceremony; `nil` if there is none (``problem``).
    public nonisolated(nonsending) func pin(_ asked: PINRequest) async -> SharedSecret? {
        if let fallback = asked.fallback { person.tell(VerificationFallback(reason: fallback)) }
        do { return try await credentials.obtain(request(asked.retries)) } catch {
            failure.withLock { $0 = error }
            return nil
        }
    }

    /// Records the key's answer to the PIN; `nil` if it was accepted.
    public func takeNote(_ error: FIDOError?) {
        if let error { credentials.failed(id, error) } else { credentials.accepted(id) }
    }

    private func request(_ retries: PINRetries?) -> CredentialRequest {
        CredentialRequest(id, to: purpose, triesLeft: retries?.count, isForOnce: isForOnce)
    }
}

/// The key's own user verification failed or is unavailable, and the PIN is needed.
public struct VerificationFallback: UserNews, Hashable {
    /// Why.
    public let reason: PINRequest.Fallback
    /// Whether the key no longer tries.
    package var isBlocked: Bool { reason == .blocked }
}
