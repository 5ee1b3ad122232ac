// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension AuthenticatorInfo {
    /// Returns the value of an option; `nil` if the key does not list it.
    public func option(_ name: AuthenticatorOption) -> Bool? {
        options.first { $0.name == name.rawValue }?.value
    }

    /// Whether the key lists this protocol version.
    public func speaks(_ version: AuthenticatorVersion) -> Bool { versions.contains(version) }

    /// Whether a PIN is set.
    public var hasPIN: Bool { option(.clientPin) == true }
    /// Whether the key supports a PIN.
    public var takesPIN: Bool { option(.clientPin) != nil }
    /// Whether built-in user verification is configured.
    public var hasBuiltInUV: Bool { option(.uv) == true }
    /// Whether tokens carry permissions (CTAP 2.1 §6.5.5.7).
    public var hasPermissions: Bool { option(.pinUvAuthToken) == true }
    /// Whether built-in user verification yields a token.
    public var givesTokenForUV: Bool { hasBuiltInUV && hasPermissions }
    /// Duration of the long touch that a reset may require, in seconds: 5 in CTAP 2.3, 10 before.
    public var longTouchSeconds: Int { speaks(.fido23) ? 5 : 10 }
    /// Whether the key supports credential management, final or preview.
    public var hasCredentialManagement: Bool {
        option(.credMgmt) == true || option(.credentialMgmtPreview) == true
    }
    /// Whether the key supports fingerprint enrollment, final or preview.
    public var hasBioEnrollment: Bool { option(.bioEnroll) != nil || option(.userVerificationMgmtPreview) != nil }
}

/// An option of a key (CTAP 2.3 §6.4, options).
public struct AuthenticatorOption: OpenSet {
    /// The name in getInfo.
    public let rawValue: String
    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Stores discoverable credentials.
    public static let rk = AuthenticatorOption(rawValue: "rk")
    /// Requires a touch; true if absent.
    public static let up = AuthenticatorOption(rawValue: "up")
    /// Built-in user verification: configured or not.
    public static let uv = AuthenticatorOption(rawValue: "uv")
    /// Is built into the computer.
    public static let plat = AuthenticatorOption(rawValue: "plat")
    /// PIN: set or not.
    public static let clientPin = AuthenticatorOption(rawValue: "clientPin")
    /// Tokens carry permissions.
    public static let pinUvAuthToken = AuthenticatorOption(rawValue: "pinUvAuthToken")
    /// A PIN does not grant the permissions to make credentials or get assertions.
    public static let noMcGaPermissionsWithClientPin = AuthenticatorOption(
        rawValue: "noMcGaPermissionsWithClientPin")
    /// Stores large blobs.
    public static let largeBlobs = AuthenticatorOption(rawValue: "largeBlobs")
    /// Enterprise attestation: enabled or not.
    public static let ep = AuthenticatorOption(rawValue: "ep")
    /// Fingerprints: enrolled or not.
    public static let bioEnroll = AuthenticatorOption(rawValue: "bioEnroll")
    /// The same, in the preview of CTAP 2.1.
    public static let userVerificationMgmtPreview = AuthenticatorOption(rawValue: "userVerificationMgmtPreview")
    /// Built-in user verification permits enrolling fingerprints.
    public static let uvBioEnroll = AuthenticatorOption(rawValue: "uvBioEnroll")
    /// Supports authenticatorConfig.
    public static let authnrCfg = AuthenticatorOption(rawValue: "authnrCfg")
    /// Built-in user verification permits authenticatorConfig.
    public static let uvAcfg = AuthenticatorOption(rawValue: "uvAcfg")
    /// Credentials can be listed and deleted.
    public static let credMgmt = AuthenticatorOption(rawValue: "credMgmt")
    /// Credentials can be listed with a persistent token.
    public static let perCredMgmtRO = AuthenticatorOption(rawValue: "perCredMgmtRO")
    /// Credential management, in the preview of CTAP 2.1.
    public static let credentialMgmtPreview = AuthenticatorOption(rawValue: "credentialMgmtPreview")
    /// The minimum PIN length can be set.
    public static let setMinPINLength = AuthenticatorOption(rawValue: "setMinPINLength")
    /// Non-discoverable credentials can be created without user verification.
    public static let makeCredUvNotRqd = AuthenticatorOption(rawValue: "makeCredUvNotRqd")
    /// User verification is always required.
    public static let alwaysUv = AuthenticatorOption(rawValue: "alwaysUv")
}
