// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// What a key says that it can do (CTAP 2.0 to 2.3, getInfo). Absent fields have the specification's defaults, or are
/// `nil`; fields that are not known here are in ``map``.
public struct AuthenticatorInfo: Hashable, Sendable {
    /// Everything the key said, by key number.
    public let map: CBOR.Map
    /// The protocols it speaks.
    public let versions: [AuthenticatorVersion]
    /// Identifiers of the extensions it knows.
    public let extensions: [String]
    /// The model of the key: 16 bytes.
    public let aaguid: [UInt8]
    /// Its options by name, in its order; one that is absent is not known to the key, or has its default.
    public let options: [(name: String, value: Bool)]
    /// The longest message, in bytes.
    public let maxMessageSize: Int
    /// PIN/UV auth protocols by number, the preferred first.
    public let pinProtocols: [UInt64]
    /// The most credentials in an exclude or allow list.
    public let maxCredentialsInList: UInt64?
    /// The longest credential identifier in a list, in bytes.
    public let maxCredentialIDLength: UInt64?
    /// How it can be reached, such as `usb` and `nfc`.
    public let transports: [String]
    /// The algorithms of its credentials, the preferred first; empty when it does not say.
    public let algorithms: [COSEAlgorithm]
    /// The longest array of large blobs, in bytes.
    public let maxLargeBlobArray: UInt64?
    /// Whether the PIN has to be changed before anything else works.
    public let mustChangePIN: Bool
    /// The shortest PIN, in Unicode code points.
    public let minPINLength: UInt64
    /// The version of the firmware, as the vendor counts.
    public let firmwareVersion: UInt64?
    /// The longest blob in a credential, in bytes.
    public let maxCredentialBlobLength: UInt64?
    /// The most relying parties that can be told the shortest PIN length.
    public let maxRPIDsForMinPINLength: UInt64?
    /// How often a platform should try the key's own user verification before it asks for the PIN.
    public let preferredUVAttempts: UInt64?
    /// The ways of user verification, as bits of FIDO's registry.
    public let uvModality: UInt64?
    /// Certifications by name.
    public let certifications: CBOR.Map?
    /// How many more credentials it can remember.
    public let remainingCredentials: UInt64?
    /// Numbers of the vendor's own config commands.
    public let vendorConfigCommands: [UInt64]
    /// Attestation formats it can make.
    public let attestationFormats: [AttestationFormat]
    /// How often the user was verified otherwise since the PIN was given.
    public let uvCountSincePIN: UInt64?
    /// Whether a reset needs a long touch.
    public let needsLongTouchForReset: Bool?
    /// Identifier of the key, encrypted for who has a persistent token.
    public let encryptedIdentifier: [UInt8]?
    /// The transports over which it can be reset; empty when it does not say.
    public let transportsForReset: [String]
    /// Whether PINs have to be complex.
    public let hasPINComplexityPolicy: Bool?
    /// Where the PIN policy is explained.
    public let pinComplexityPolicyURL: [UInt8]?
    /// The longest PIN, in bytes.
    public let maxPINLength: UInt64
    /// State of the stored credentials, encrypted for who has a persistent token.
    public let encryptedStoreState: [UInt8]?
    /// Config commands by number; `nil` when it does not say.
    public let configCommands: [UInt64]?

    /// Whether both values are equal.
    public static func == (left: Self, right: Self) -> Bool { left.map == right.map }
    /// Hashes the value.
    public func hash(into hasher: inout Hasher) { hasher.combine(map) }
}

/// A protocol that a key speaks (CTAP 2.3 §6.4). An open set.
public struct AuthenticatorVersion: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The text in getInfo.
    public let rawValue: String
    /// Wraps a string.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// U2F.
    public static let u2fV2 = AuthenticatorVersion(rawValue: "U2F_V2")
    /// CTAP 2.0.
    public static let fido20 = AuthenticatorVersion(rawValue: "FIDO_2_0")
    /// CTAP 2.1 before it was finished.
    public static let fido21Pre = AuthenticatorVersion(rawValue: "FIDO_2_1_PRE")
    /// CTAP 2.1.
    public static let fido21 = AuthenticatorVersion(rawValue: "FIDO_2_1")
    /// CTAP 2.3. There is no text for 2.2.
    public static let fido23 = AuthenticatorVersion(rawValue: "FIDO_2_3")

    /// The text.
    public var description: String { rawValue }
}
