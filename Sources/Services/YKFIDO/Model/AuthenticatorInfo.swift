// SPDX-License-Identifier: Apache-2.0

import YKProtocols
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

extension AuthenticatorInfo {
    private typealias Key = CTAPProtocol.GetInfo.Reply

    /// Reads the answer to getInfo (CTAP 2.3 §6.4). A member of the wrong type is treated as absent, and named in
    /// ``malformedMembers``; a limit of zero, which would exclude everything, is treated as absent too.
    ///
    /// - Throws: `missing` if there is neither a version nor an AAGUID: then this is not a response to getInfo.
    public init(_ fields: CBOR.Fields) throws(WireError) {
        if fields.map[Key.versions] == nil { _ = try fields.required(Key.aaguid, .any) }
        var members = Members(fields)
        map = fields.map
        versions = members.list(Key.versions, of: .text)?.map(AuthenticatorVersion.init(rawValue:)) ?? []
        extensions = members.list(Key.extensions, of: .text) ?? []
        aaguid = members.model()
        options = members.value(Key.options, .map).map(Self.options) ?? []
        let size = members.limit(Key.maxMsgSize).map { Int(clamping: $0) }
        maxMessageSize = min(max(size ?? CTAPSession.defaultMessageLimit, 64), 65536)
        pinProtocols = members.list(Key.pinUvAuthProtocols, of: .unsigned) ?? []
        maxCredentialsInList = members.limit(Key.maxCredentialCountInList)
        maxCredentialIDLength = members.limit(Key.maxCredentialIdLength)
        transports = members.list(Key.transports, of: .text) ?? []
        algorithms = Self.algorithms(members.list(Key.algorithms, of: .map) ?? [])
        maxLargeBlobArray = members.limit(Key.maxSerializedLargeBlobArray)
        mustChangePIN = members.value(Key.forcePINChange, .bool) ?? false
        minPINLength = members.limit(Key.minPINLength) ?? 4
        firmwareVersion = members.value(Key.firmwareVersion, .unsigned)
        maxCredentialBlobLength = members.value(Key.maxCredBlobLength, .unsigned)
        maxRPIDsForMinPINLength = members.value(Key.maxRPIDsForSetMinPINLength, .unsigned)
        preferredUVAttempts = members.value(Key.preferredPlatformUvAttempts, .unsigned)
        uvModality = members.value(Key.uvModality, .unsigned)
        certifications = members.value(Key.certifications, .map)
        remainingCredentials = members.value(Key.remainingDiscoverableCredentials, .unsigned)
        vendorConfigCommands = members.list(Key.vendorPrototypeConfigCommands, of: .unsigned) ?? []
        attestationFormats =
            members.list(Key.attestationFormats, of: .text)?.map(AttestationFormat.init(rawValue:)) ?? [.packed]
        uvCountSincePIN = members.value(Key.uvCountSinceLastPinEntry, .unsigned)
        needsLongTouchForReset = members.value(Key.longTouchForReset, .bool)
        encryptedIdentifier = members.value(Key.encIdentifier, .bytes)
        transportsForReset = members.list(Key.transportsForReset, of: .text) ?? []
        hasPINComplexityPolicy = members.value(Key.pinComplexityPolicy, .bool)
        pinComplexityPolicyURL = members.value(Key.pinComplexityPolicyURL, .bytes)
        maxPINLength = members.limit(Key.maxPINLength) ?? 63
        encryptedStoreState = members.value(Key.encCredStoreState, .bytes)
        configCommands = members.list(Key.authenticatorConfigCommands, of: .unsigned)
        malformedMembers = members.malformed
    }

    /// Reads members, and collects the names of malformed ones.
    private struct Members {
        let fields: CBOR.Fields
        private(set) var malformed: [String] = []

        init(_ fields: CBOR.Fields) { self.fields = fields }

        mutating func value<Value>(_ key: Key, _ kind: CBOR.Kind<Value>) -> Value? {
            do { return try fields.optional(key, kind) } catch { return noting(key) }
        }

        mutating func list<Value>(_ key: Key, of kind: CBOR.Kind<Value>) -> [Value]? {
            do { return try fields.optionalList(key, of: kind) } catch { return noting(key) }
        }

        /// A nonzero size or length.
        mutating func limit(_ key: Key) -> UInt64? { value(key, .unsigned).flatMap { $0 == 0 ? nil : $0 } }

        /// The AAGUID; zero if it is missing.
        mutating func model() -> [UInt8] {
            if let bytes = value(.aaguid, .bytes), bytes.count == 16 { return bytes }
            if !malformed.contains(Key.aaguid.name) { malformed.append(Key.aaguid.name) }
            return [UInt8](repeating: 0, count: 16)
        }

        private mutating func noting<Value>(_ key: Key) -> Value? {
            malformed.append(key.name)
            return nil
        }
    }

    /// Skips entries that are not a string with a boolean; they remain only in the map.
    private static func options(_ map: CBOR.Map) -> [(name: String, value: Bool)] {
        map.entries.compactMap { entry in
            guard let name = entry.key.text, let value = entry.value.bool else { return nil }
            return (name, value)
        }
    }

    /// Skips entries whose type is not `public-key`.
    private static func algorithms(_ entries: [CBOR.Map]) -> [COSEAlgorithm] {
        entries.compactMap { entry in
            guard entry["type"]?.text == CredentialDescriptor.publicKey else { return nil }
            return entry["alg"]?.int.map(COSEAlgorithm.init(rawValue:))
        }
    }
}
