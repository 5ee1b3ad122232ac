// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// What extensions are to do when a credential signs (CTAP 2.2 §12).
public struct AssertionExtensions: Hashable, Sendable {
    /// hmac-secret: salts to make secrets from.
    public var salts: HMACSecretSalts?
    /// hmac-secret: salts for single credentials, by their identifiers, in place of ``salts``. Which one the key has is
    /// found out without a touch.
    public var saltsByCredential: [[UInt8]: HMACSecretSalts] = [:]
    /// credBlob: whether the bytes in the credential are wanted.
    public var wantsBlob = false
    /// largeBlobKey: whether the key for the credential's large blob is wanted.
    public var wantsLargeBlobKey = false
    /// largeBlobKey: whether the credential's large blob will be written afterwards, so that the PIN is asked for once.
    public var writesLargeBlob = false
    /// thirdPartyPayment: whether it is asked if other sites may use the credential for payments.
    public var asksThirdPartyPayment = false
    /// Inputs of other extensions by their identifiers.
    public var others = CBOR.Map()

    /// Creates a set in which nothing is asked for.
    public init() {}

    /// What the token has to permit.
    var permissions: ClientPIN.Permissions { writesLargeBlob ? [.getAssertion, .largeBlobWrite] : .getAssertion }

    /// The salts for the credentials that may sign.
    func salts(for allowed: [CredentialDescriptor]) -> HMACSecretSalts? {
        let only = allowed.count == 1 ? allowed.first : nil
        return only.flatMap { saltsByCredential[$0.id] } ?? salts
    }

    /// Refuses what has to be done and cannot; `nil` stands for U2F, which has no extensions.
    func check(_ info: AuthenticatorInfo?) throws(FIDOError) {
        func knows(_ identifier: String) -> Bool { info?.extensions.contains(identifier) ?? false }
        if salts != nil || !saltsByCredential.isEmpty, !knows("hmac-secret") { throw .unsupported("hmac-secret") }
        if wantsLargeBlobKey, !knows("largeBlobKey") { throw .unsupported("largeBlobKey") }
    }

    /// The inputs as the key takes them; those that it does not know are left out.
    func input(_ info: AuthenticatorInfo, hmacSecret: CBOR?) -> CBOR.Map {
        var map = CBOR.Map()
        func knows(_ identifier: String) -> Bool { info.extensions.contains(identifier) }
        map["hmac-secret"] = hmacSecret
        if wantsBlob, knows("credBlob") { map["credBlob"] = true }
        if wantsLargeBlobKey { map["largeBlobKey"] = true }
        if asksThirdPartyPayment, knows("thirdPartyPayment") { map["thirdPartyPayment"] = true }
        for entry in others.entries { map[entry.key] = entry.value }
        return map
    }
}

/// What extensions answered when a credential signed.
public struct AssertionExtensionOutputs: Sendable {
    /// hmac-secret: what was made from the salts.
    public let secrets: HMACSecrets?
    /// credBlob: the bytes in the credential.
    public let blob: [UInt8]?
    /// thirdPartyPayment: whether other sites may use the credential for payments.
    public let allowsThirdPartyPayment: Bool?
    /// Everything that extensions answered, by their identifiers.
    public let all: CBOR.Map

    init(_ map: CBOR.Map?, secrets: HMACSecrets?) {
        let map = map ?? CBOR.Map()
        all = map
        blob = map["credBlob"]?.bytes
        allowsThirdPartyPayment = map["thirdPartyPayment"]?.bool
        self.secrets = secrets
    }
}
