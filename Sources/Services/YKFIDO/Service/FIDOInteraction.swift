// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// How a service speaks with its user while it works.
///
/// The closures begin on the service's thread, which they must not block, and may continue anywhere: on the main actor for a
/// dialog, for example. While one is awaited no other caller gets onto the key.
public struct FIDOInteraction: Sendable {
    /// Asked when a PIN is needed; `nil` gives up. A wrong PIN is never asked for again by itself. The task is cancelled
    /// when the operation is.
    public var pin: @Sendable (PINRequest) async -> SharedSecret?
    /// Runs while the key waits for a touch; its task is cancelled when the wait ends.
    public var touch: @Sendable () async -> Void
    /// Whether the PIN is at hand, so that nobody has to know how many tries are left: the key is not asked for that.
    public var hasPIN = false

    /// Whether only U2F is going to be used, so that the key is not asked what CTAP2 it knows.
    package var usesU2FOnly = false

    /// Creates an interaction; without arguments no PIN is given.
    public init(
        pin: @escaping @Sendable (PINRequest) async -> SharedSecret? = { _ in nil },
        touch: @escaping @Sendable () async -> Void = {}
    ) {
        self.pin = pin
        self.touch = touch
    }
}

/// What a user should know before a PIN is typed.
public struct PINRequest: Hashable, Sendable {
    /// What the PIN is for.
    public let permissions: ClientPIN.Permissions
    /// The relying party that the permission is for.
    public let rpID: String?
    /// Wrong PINs that are left; `nil` when ``FIDOInteraction/hasPIN`` says that it does not matter.
    public let retries: PINRetries?
    /// Why the key's own user verification did not do; `nil` when it was not tried.
    public let fallback: Fallback?

    /// Creates a request.
    public init(permissions: ClientPIN.Permissions, rpID: String?, retries: PINRetries?, fallback: Fallback?) {
        self.permissions = permissions
        self.rpID = rpID
        self.retries = retries
        self.fallback = fallback
    }

    /// Why the key's own user verification did not do.
    public enum Fallback: Hashable, Sendable {
        /// It did not recognise the user.
        case notRecognised
        /// It is blocked.
        case blocked
    }
}

/// Whether the user has to be verified (WebAuthn Level 3 §5.8.6).
public enum UserVerification: String, Sendable, Hashable, CaseIterable {
    /// Verified, or the operation fails.
    case required
    /// Verified where the key can.
    case preferred
    /// Not verified unless the key insists.
    case discouraged
}
