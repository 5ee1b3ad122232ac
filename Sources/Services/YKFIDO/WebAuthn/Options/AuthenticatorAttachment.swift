// SPDX-License-Identifier: Apache-2.0

/// Whether a key is part of the machine (WebAuthn Level 3 §5.4.5). An open set.
public struct AuthenticatorAttachment: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name.
    public let rawValue: String
    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Part of the machine.
    public static let platform = AuthenticatorAttachment(rawValue: "platform")
    /// Carried from machine to machine.
    public static let crossPlatform = AuthenticatorAttachment(rawValue: "cross-platform")
    /// The name.
    public var description: String { rawValue }
}
