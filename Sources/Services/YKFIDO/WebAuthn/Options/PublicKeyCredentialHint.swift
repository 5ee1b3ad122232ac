// SPDX-License-Identifier: Apache-2.0

/// What the relying party thinks the user will use (WebAuthn Level 3 §5.8.7). An open set.
public struct PublicKeyCredentialHint: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name.
    public let rawValue: String
    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A security key.
    public static let securityKey = PublicKeyCredentialHint(rawValue: "security-key")
    /// Something in the machine.
    public static let clientDevice = PublicKeyCredentialHint(rawValue: "client-device")
    /// A telephone.
    public static let hybrid = PublicKeyCredentialHint(rawValue: "hybrid")
    /// The name.
    public var description: String { rawValue }
}
