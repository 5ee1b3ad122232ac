// SPDX-License-Identifier: Apache-2.0

extension AuthenticatorInfo {
    /// The value of an option; `nil` when the key does not name it.
    public func option(_ name: AuthenticatorOption) -> Bool? {
        options.first { $0.name == name.rawValue }?.value
    }

    /// Whether the key names this protocol.
    public func speaks(_ version: AuthenticatorVersion) -> Bool { versions.contains(version) }

    /// Whether a PIN is set.
    public var hasPIN: Bool { option(.clientPin) == true }
    /// Whether a PIN can be set.
    public var takesPIN: Bool { option(.clientPin) != nil }
    /// Whether the key verifies its user by its own means, and these are set up.
    public var hasBuiltInUV: Bool { option(.uv) == true }
    /// Whether tokens carry permissions (CTAP 2.1 §6.5.5.7).
    public var hasPermissions: Bool { option(.pinUvAuthToken) == true }
    /// Whether built-in user verification gives a token.
    public var givesTokenForUV: Bool { hasBuiltInUV && hasPermissions }
    /// Whether credential management is there, finished or as a preview.
    public var hasCredentialManagement: Bool {
        option(.credMgmt) == true || option(.credentialMgmtPreview) == true
    }
    /// Whether fingerprints can be enrolled, by the finished command or its preview.
    public var hasBioEnrollment: Bool { option(.bioEnroll) != nil || option(.userVerificationMgmtPreview) != nil }
}

/// Something a key can do or is set to (CTAP 2.3 §6.4, options). An open set.
public struct AuthenticatorOption: RawRepresentable, Hashable, Sendable {
    /// The name in getInfo.
    public let rawValue: String
    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// It remembers credentials.
    public static let rk = AuthenticatorOption(rawValue: "rk")
    /// It waits for a touch; true when absent.
    public static let up = AuthenticatorOption(rawValue: "up")
    /// Built-in user verification: set up or not.
    public static let uv = AuthenticatorOption(rawValue: "uv")
    /// It is part of the machine.
    public static let plat = AuthenticatorOption(rawValue: "plat")
    /// PIN: set or not.
    public static let clientPin = AuthenticatorOption(rawValue: "clientPin")
    /// Tokens carry permissions.
    public static let pinUvAuthToken = AuthenticatorOption(rawValue: "pinUvAuthToken")
    /// A PIN does not permit to make credentials or assertions.
    public static let noMcGaPermissionsWithClientPin = AuthenticatorOption(
        rawValue: "noMcGaPermissionsWithClientPin")
    /// It keeps large blobs.
    public static let largeBlobs = AuthenticatorOption(rawValue: "largeBlobs")
    /// Enterprise attestation: enabled or not.
    public static let ep = AuthenticatorOption(rawValue: "ep")
    /// Fingerprints: enrolled or not.
    public static let bioEnroll = AuthenticatorOption(rawValue: "bioEnroll")
    /// The same, before CTAP 2.1 was finished.
    public static let userVerificationMgmtPreview = AuthenticatorOption(rawValue: "userVerificationMgmtPreview")
    /// Built-in user verification permits to enrol fingerprints.
    public static let uvBioEnroll = AuthenticatorOption(rawValue: "uvBioEnroll")
    /// It can be configured.
    public static let authnrCfg = AuthenticatorOption(rawValue: "authnrCfg")
    /// Built-in user verification permits to configure it.
    public static let uvAcfg = AuthenticatorOption(rawValue: "uvAcfg")
    /// Credentials can be listed and deleted.
    public static let credMgmt = AuthenticatorOption(rawValue: "credMgmt")
    /// Credentials can be listed with a persistent token.
    public static let perCredMgmtRO = AuthenticatorOption(rawValue: "perCredMgmtRO")
    /// Credential management, before CTAP 2.1 was finished.
    public static let credentialMgmtPreview = AuthenticatorOption(rawValue: "credentialMgmtPreview")
    /// The shortest PIN length can be set.
    public static let setMinPINLength = AuthenticatorOption(rawValue: "setMinPINLength")
    /// Credentials that it does not remember are made without user verification.
    public static let makeCredUvNotRqd = AuthenticatorOption(rawValue: "makeCredUvNotRqd")
    /// The user is verified whatever was asked for.
    public static let alwaysUv = AuthenticatorOption(rawValue: "alwaysUv")
}
