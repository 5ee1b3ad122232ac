// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// The response to getInfo (CTAP 2.0 to 2.3). Absent fields have the specification's defaults, or are `nil`; unknown
/// fields are in ``map``.
public struct AuthenticatorInfo: Hashable, Sendable {
    /// The whole response, by key number.
    public let map: CBOR.Map
    /// The supported protocol versions.
    public let versions: [AuthenticatorVersion]
    /// Identifiers of the supported extensions.
    public let extensions: [String]
    /// The model of the key: 16 bytes.
    public let aaguid: [UInt8]
    /// The options by name, in the key's order; an absent option is unsupported or has its default.
    public let options: [(name: String, value: Bool)]
    /// The longest message, in bytes.
    public let maxMessageSize: Int
    /// PIN/UV auth protocols by number, most preferred first.
    public let pinProtocols: [UInt64]
    /// Maximum number of credentials in an exclude or allow list.
    public let maxCredentialsInList: UInt64?
    /// The longest credential identifier in a list, in bytes.
    public let maxCredentialIDLength: UInt64?
    /// The supported transports, such as `usb` and `nfc`.
    public let transports: [String]
    /// The supported algorithms, most preferred first; empty if the key does not list them.
    public let algorithms: [COSEAlgorithm]
    /// Maximum size of the large-blob array, in bytes.
    public let maxLargeBlobArray: UInt64?
    /// Whether the PIN must be changed before it can be used again.
    public let mustChangePIN: Bool
    /// The minimum PIN length, in Unicode code points.
    public let minPINLength: UInt64
    /// The firmware version, in the vendor's numbering.
    public let firmwareVersion: UInt64?
    /// Maximum size of a blob in a credential, in bytes.
    public let maxCredentialBlobLength: UInt64?
    /// Maximum number of relying parties that can receive the minimum PIN length.
    public let maxRPIDsForMinPINLength: UInt64?
    /// How many times a platform should try built-in user verification before it requests the PIN.
    public let preferredUVAttempts: UInt64?
    /// The user verification methods, as bits defined in FIDO's registry.
    public let uvModality: UInt64?
    /// Certifications by name.
    public let certifications: CBOR.Map?
    /// How many more discoverable credentials the key can store.
    public let remainingCredentials: UInt64?
    /// Numbers of vendor config commands.
    public let vendorConfigCommands: [UInt64]
    /// Supported attestation formats.
    public let attestationFormats: [AttestationFormat]
    /// How many times the user has been verified by other means since the PIN was last entered.
    public let uvCountSincePIN: UInt64?
    /// Whether a reset requires a long touch.
    public let needsLongTouchForReset: Bool?
    /// The key's identifier, encrypted for the holder of a persistent token.
    public let encryptedIdentifier: [UInt8]?
    /// The transports over which the key can be reset; empty if it does not list them.
    public let transportsForReset: [String]
    /// Whether PINs must be complex.
    public let hasPINComplexityPolicy: Bool?
    /// The URL that explains the PIN policy.
    public let pinComplexityPolicyURL: [UInt8]?
    /// Maximum PIN length, in bytes.
    public let maxPINLength: UInt64
    /// The state of the stored credentials, encrypted for the holder of a persistent token.
    public let encryptedStoreState: [UInt8]?
    /// Config commands by number; `nil` if the key does not list them.
    public let configCommands: [UInt64]?
    /// The names, as in the specification, of members whose values are malformed, and a missing AAGUID.
    public let malformedMembers: [String]

    /// Whether both values are equal.
    public static func == (left: Self, right: Self) -> Bool { left.map == right.map }
    /// Hashes the value.
    public func hash(into hasher: inout Hasher) { hasher.combine(map) }
}

/// A protocol version (CTAP 2.3 §6.4).
public struct AuthenticatorVersion: OpenSet {
    /// The string in getInfo.
    public let rawValue: String
    /// Wraps a string.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// U2F.
    public static let u2fV2 = AuthenticatorVersion(rawValue: "U2F_V2")
    /// CTAP 2.0.
    public static let fido20 = AuthenticatorVersion(rawValue: "FIDO_2_0")
    /// The preview of CTAP 2.1.
    public static let fido21Pre = AuthenticatorVersion(rawValue: "FIDO_2_1_PRE")
    /// CTAP 2.1.
    public static let fido21 = AuthenticatorVersion(rawValue: "FIDO_2_1")
    /// CTAP 2.3. There is no string for 2.2.
    public static let fido23 = AuthenticatorVersion(rawValue: "FIDO_2_3")

}
