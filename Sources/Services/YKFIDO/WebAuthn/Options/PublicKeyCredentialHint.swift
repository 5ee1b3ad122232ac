// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// What the relying party expects the user to use (WebAuthn Level 3 §5.8.7).
public struct PublicKeyCredentialHint: OpenSet {
    /// The name.
    public let rawValue: String
    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A security key.
    public static let securityKey = PublicKeyCredentialHint(rawValue: "security-key")
    /// An authenticator built into the computer.
    public static let clientDevice = PublicKeyCredentialHint(rawValue: "client-device")
    /// A phone.
    public static let hybrid = PublicKeyCredentialHint(rawValue: "hybrid")
}
