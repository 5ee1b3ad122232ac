// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// How a service interacts with its user.
///
/// The closures are called on the service's thread, which they must not block, and may continue anywhere: on the main
/// actor for a dialog, for example. While one is awaited, no other caller can use the key.
public struct FIDOInteraction: Sendable {
    /// Called when a PIN is required; returning `nil` cancels the operation. The service never retries after a wrong
    /// PIN. The task is cancelled with the operation.
    public var pin: @Sendable (PINRequest) async -> SharedSecret?
    /// Called once the key has checked the PIN: with `nil` if it accepted it, otherwise with the error.
    public var pinOutcome: @Sendable (FIDOError?) -> Void = { _ in }
    /// Runs while the key waits for a touch; its task is cancelled when the wait ends.
    public var touch: @Sendable () async -> Void
    /// Whether the PIN is already known, so that the retry counter need not be read from the key.
    public var hasPIN = false

    /// Whether only U2F will be used, so that getInfo is not sent.
    package var usesU2FOnly = false

    /// Creates an interaction; the default provides no PIN.
    public init(
        pin: @escaping @Sendable (PINRequest) async -> SharedSecret? = { _ in nil },
        touch: @escaping @Sendable () async -> Void = {}
    ) {
        self.pin = pin
        self.touch = touch
    }
}

/// What the user should know before entering a PIN.
public struct PINRequest: Hashable, Sendable {
    /// What the PIN is for.
    public let permissions: ClientPIN.Permissions
    /// The relying party of the permission.
    public let rpID: String?
    /// The remaining PIN retries; `nil` if ``FIDOInteraction/hasPIN`` is set.
    public let retries: PINRetries?
    /// Why built-in user verification was not sufficient; `nil` if it was not tried.
    public let fallback: Fallback?

    /// Creates a request.
    public init(permissions: ClientPIN.Permissions, rpID: String?, retries: PINRetries?, fallback: Fallback?) {
        self.permissions = permissions
        self.rpID = rpID
        self.retries = retries
        self.fallback = fallback
    }

    /// Why built-in user verification was not sufficient.
    public enum Fallback: Hashable, Sendable {
        /// It did not recognize the user.
        case notRecognised
        /// It is blocked.
        case blocked
    }
}

/// Whether the user must be verified (WebAuthn Level 3 §5.8.6).
public enum UserVerification: String, Sendable, Hashable, CaseIterable {
    /// The user is verified, or the operation fails.
    case required
    /// The user is verified if the key supports it.
    case preferred
    /// The user is not verified unless the key requires it.
    case discouraged
}
