// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Extension inputs for a new credential (CTAP 2.2 §12).
public struct RegistrationExtensions: Hashable, Sendable {
    /// credProtect: when the credential can be used without user verification.
    public var protection: CredentialProtection?
    /// Whether to refuse a key without credProtect.
    public var enforcesProtection = false
    /// hmac-secret: whether to enable hmac-secret for the credential.
    public var createsHMACSecret = false
    /// hmac-secret-mc: salts to derive secrets from at creation.
    public var salts: HMACSecretSalts?
    /// credBlob: bytes to store in the credential.
    public var blob: [UInt8]?
    /// largeBlobKey: whether the credential gets a large-blob key.
    public var createsLargeBlobKey = false
    /// largeBlob: whether the credential can store a blob itself (CTAP 2.3); refused by a key without the extension.
    public var largeBlob: DirectLargeBlob.Support?
    /// minPinLength: whether to return the minimum PIN length to the relying party.
    public var asksMinPINLength = false
    /// pinComplexityPolicy: whether to return the PIN complexity policy to the relying party.
    public var asksPINComplexity = false
    /// thirdPartyPayment: whether other sites may use the credential for payments.
    public var allowsThirdPartyPayment = false
    /// previewSign: the signing key to create with the credential; refused by a key without the extension.
    /// Experimental.
    public var signingKey: PreviewSign.Request?
    /// Inputs of other extensions by identifier.
    public var others = CBOR.Map()

    /// Creates empty inputs.
    public init() {}

    /// Refuses required extensions that are unsupported; `nil` stands for U2F, which has no extensions.
    func check(_ info: AuthenticatorInfo?) throws(FIDOError) {
        func knows(_ identifier: String) -> Bool { info?.extensions.contains(identifier) ?? false }
        if enforcesProtection, let protection, protection != .optional, !knows("credProtect") {
            throw .unsupported("credProtect")
        }
        if createsLargeBlobKey, !knows("largeBlobKey") { throw .unsupported("largeBlobKey") }
        if largeBlob != nil, !knows(DirectLargeBlob.identifier) { throw .unsupported(DirectLargeBlob.identifier) }
        if signingKey != nil, !knows(PreviewSign.identifier) { throw .unsupported(PreviewSign.identifier) }
    }

    /// The encoded inputs; those that the key does not support are omitted.
    func input(_ info: AuthenticatorInfo, hmacSecret: CBOR?) -> CBOR.Map {
        var map = CBOR.Map()
        func knows(_ identifier: String) -> Bool { info.extensions.contains(identifier) }
        if let protection, knows("credProtect") { map["credProtect"] = .unsigned(protection.rawValue) }
        if createsHMACSecret || salts != nil, knows("hmac-secret") { map["hmac-secret"] = true }
        map["hmac-secret-mc"] = hmacSecret
        if let blob, knows("credBlob"), blob.count <= Int(clamping: info.maxCredentialBlobLength ?? 32) {
            map["credBlob"] = .bytes(blob)
        }
        if createsLargeBlobKey { map["largeBlobKey"] = true }
        if asksMinPINLength, knows("minPinLength") { map["minPinLength"] = true }
        if asksPINComplexity, knows("pinComplexityPolicy") { map["pinComplexityPolicy"] = true }
        if allowsThirdPartyPayment, knows("thirdPartyPayment") { map["thirdPartyPayment"] = true }
        if let largeBlob { map[.text(DirectLargeBlob.identifier)] = ["support": .text(largeBlob.rawValue)] }
        map[.text(PreviewSign.identifier)] = signingKey?.cbor
        for entry in others.entries { map[entry.key] = entry.value }
        return map
    }
}

/// Extension outputs of a new credential.
public struct RegistrationExtensionOutputs: Sendable {
    /// credProtect: the credential's level.
    public let protection: CredentialProtection?
    /// hmac-secret: whether the credential supports hmac-secret.
    public let hasHMACSecret: Bool
    /// hmac-secret-mc: the secrets derived from the salts.
    public let secrets: HMACSecrets?
    /// credBlob: whether the blob was stored.
    public let keptBlob: Bool?
    /// largeBlob: whether the credential can store a blob itself.
    public let hasLargeBlob: Bool
    /// minPinLength: the minimum PIN length.
    public let minPINLength: UInt64?
    /// pinComplexityPolicy: whether PINs must be complex.
    public let hasPINComplexityPolicy: Bool?
    /// previewSign: the signing key that was created.
    public let signingKey: PreviewSign.GeneratedKey?
    /// All extension outputs by identifier.
    public let all: CBOR.Map

    init(
        _ map: CBOR.Map?, unsigned: CBOR.Map? = nil, secrets: HMACSecrets?,
        signingKey: PreviewSign.GeneratedKey? = nil
    ) {
        let map = map ?? CBOR.Map()
        all = map
        hasLargeBlob = unsigned?[.text(DirectLargeBlob.identifier)]?.map?["supported"]?.bool ?? false
        protection = map["credProtect"]?.unsigned.map(CredentialProtection.init(rawValue:))
        hasHMACSecret = map["hmac-secret"]?.bool ?? false
        keptBlob = map["credBlob"]?.bool
        minPINLength = map["minPinLength"]?.unsigned
        hasPINComplexityPolicy = map["pinComplexityPolicy"]?.bool
        self.secrets = secrets
        self.signingKey = signingKey
    }
}

/// When a credential can be used without user verification (credProtect, CTAP 2.2 §12.1).
public struct CredentialProtection: OpenSet {
    /// The level.
    public let rawValue: UInt64
    /// Wraps a level.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Always usable.
    public static let optional = CredentialProtection(rawValue: 1)
    /// Usable if its identifier is given.
    public static let optionalWithList = CredentialProtection(rawValue: 2)
    /// Never usable.
    public static let required = CredentialProtection(rawValue: 3)

    /// WebAuthn's name for the level.
    public var description: String {
        switch self {
        case .optional: "userVerificationOptional"
        case .optionalWithList: "userVerificationOptionalWithCredentialIDList"
        case .required: "userVerificationRequired"
        default: "level \(rawValue)"
        }
    }
}
