// SPDX-License-Identifier: Apache-2.0

/// How a key can be reached (WebAuthn Level 3 §5.8.4). An open set.
public struct AuthenticatorTransport: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name.
    public let rawValue: String
    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// USB.
    public static let usb = AuthenticatorTransport(rawValue: "usb")
    /// Near-field communication.
    public static let nfc = AuthenticatorTransport(rawValue: "nfc")
    /// Bluetooth Low Energy.
    public static let ble = AuthenticatorTransport(rawValue: "ble")
    /// ISO 7816 smart card with contacts.
    public static let smartCard = AuthenticatorTransport(rawValue: "smart-card")
    /// A telephone beside this machine.
    public static let hybrid = AuthenticatorTransport(rawValue: "hybrid")
    /// Part of the machine.
    public static let `internal` = AuthenticatorTransport(rawValue: "internal")
    /// The name.
    public var description: String { rawValue }
}

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

/// Whether the key has to remember the credential itself (WebAuthn Level 3 §5.4.6).
public enum ResidentKeyRequirement: String, Hashable, Sendable, CaseIterable {
    /// It does, or the operation fails.
    case required
    /// It does where it can.
    case preferred
    /// It does not.
    case discouraged
}

/// What the relying party wants to know of the key's origin (WebAuthn Level 3 §5.4.7).
public enum AttestationConveyance: String, Hashable, Sendable, CaseIterable {
    /// Nothing: what vouches for the key is taken out.
    case none
    /// Something that can be verified, in whatever form.
    case indirect
    /// What the key says.
    case direct
    /// What the key says, and that can name the single key.
    case enterprise
}
