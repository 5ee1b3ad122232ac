// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Whether a key is built into the computer (WebAuthn Level 3 §5.4.5).
public struct AuthenticatorAttachment: OpenSet {
    /// The name.
    public let rawValue: String
    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Built into the computer.
    public static let platform = AuthenticatorAttachment(rawValue: "platform")
    /// Removable, for use with several computers.
    public static let crossPlatform = AuthenticatorAttachment(rawValue: "cross-platform")
}
