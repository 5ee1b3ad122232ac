// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// What extensions are to do when a credential is made (CTAP 2.2 §12).
public struct RegistrationExtensions: Hashable, Sendable {
    /// credProtect: when the credential can be used without user verification.
    public var protection: CredentialProtection?
    /// Whether a key without credProtect is refused.
    public var enforcesProtection = false
    /// hmac-secret: whether the credential can make secrets from salts later.
    public var createsHMACSecret = false
    /// hmac-secret-mc: salts to make secrets from at once.
    public var salts: HMACSecretSalts?
    /// credBlob: bytes to keep in the credential.
    public var blob: [UInt8]?
    /// largeBlobKey: whether the credential gets a key for a large blob.
    public var createsLargeBlobKey = false
    /// minPinLength: whether the relying party is told the shortest PIN length.
    public var asksMinPINLength = false
    /// pinComplexityPolicy: whether the relying party is told if PINs have to be complex.
    public var asksPINComplexity = false
    /// thirdPartyPayment: whether other sites may use the credential for payments.
    public var allowsThirdPartyPayment = false
    /// Inputs of other extensions by their identifiers.
    public var others = CBOR.Map()

    /// Creates a set in which nothing is asked for.
    public init() {}

    /// Refuses what has to be done and cannot; `nil` stands for U2F, which has no extensions.
    func check(_ info: AuthenticatorInfo?) throws(FIDOError) {
        func knows(_ identifier: String) -> Bool { info?.extensions.contains(identifier) ?? false }
        if enforcesProtection, let protection, protection != .optional, !knows("credProtect") {
            throw .unsupported("credProtect")
        }
        if createsLargeBlobKey, !knows("largeBlobKey") { throw .unsupported("largeBlobKey") }
    }

    /// The inputs as the key takes them; those that it does not know are left out.
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
        for entry in others.entries { map[entry.key] = entry.value }
        return map
    }
}

/// What extensions answered when a credential was made.
public struct RegistrationExtensionOutputs: Sendable {
    /// credProtect: the level that the credential has.
    public let protection: CredentialProtection?
    /// hmac-secret: whether the credential can make secrets from salts.
    public let hasHMACSecret: Bool
    /// hmac-secret-mc: what was made from the salts.
    public let secrets: HMACSecrets?
    /// credBlob: whether the blob was kept.
    public let keptBlob: Bool?
    /// minPinLength: the shortest PIN length.
    public let minPINLength: UInt64?
    /// pinComplexityPolicy: whether PINs have to be complex.
    public let hasPINComplexityPolicy: Bool?
    /// Everything that extensions answered, by their identifiers.
    public let all: CBOR.Map

    init(_ map: CBOR.Map?, secrets: HMACSecrets?) {
        let map = map ?? CBOR.Map()
        all = map
        protection = map["credProtect"]?.unsigned.map(CredentialProtection.init(rawValue:))
        hasHMACSecret = map["hmac-secret"]?.bool ?? false
        keptBlob = map["credBlob"]?.bool
        minPINLength = map["minPinLength"]?.unsigned
        hasPINComplexityPolicy = map["pinComplexityPolicy"]?.bool
        self.secrets = secrets
    }
}
