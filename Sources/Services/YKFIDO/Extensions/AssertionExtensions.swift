// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Extension inputs for an assertion (CTAP 2.2 §12).
public struct AssertionExtensions: Hashable, Sendable {
    /// hmac-secret: the salts to derive secrets from.
    public var salts: HMACSecretSalts?
    /// hmac-secret: salts for individual credentials, by identifier, instead of ``salts``. The credential is looked up
    /// on the key without a touch.
    public var saltsByCredential: [[UInt8]: HMACSecretSalts] = [:]
    /// credBlob: whether to return the credential's blob.
    public var wantsBlob = false
    /// largeBlobKey: whether to return the credential's large-blob key.
    public var wantsLargeBlobKey = false
    /// largeBlobKey: whether the credential's large blob will be written afterwards, so that the PIN is requested once.
    public var writesLargeBlob = false
    /// largeBlob: what to do with the blob that the credential stores itself (CTAP 2.3); refused by a key without the extension.
    public var largeBlob: DirectLargeBlob.Action?
    /// thirdPartyPayment: whether to request the flag that lets other sites use the credential for payments.
    public var asksThirdPartyPayment = false
    /// previewSign: what to sign, by credential; refused by a key without the extension. The credential is looked up on
    /// the key without a touch. Experimental.
    public var signing: [[UInt8]: PreviewSign.Input] = [:]
    /// Inputs of other extensions by identifier.
    public var others = CBOR.Map()

    /// Creates empty inputs.
    public init() {}

    /// The token permissions that are required.
    var permissions: ClientPIN.Permissions { writesLargeBlob ? [.getAssertion, .largeBlobWrite] : .getAssertion }

    /// The salts for the allowed credentials.
    func salts(for allowed: [CredentialDescriptor]) -> HMACSecretSalts? {
        let only = allowed.count == 1 ? allowed.first : nil
        return only.flatMap { saltsByCredential[$0.id] } ?? salts
    }

    /// Whether the inputs depend on the credential, so that only one credential can be sent.
    var isByCredential: Bool { !saltsByCredential.isEmpty || !signing.isEmpty || writesDirectly }

    /// Whether the credential's own blob is replaced, which requires exactly one allowed credential.
    var writesDirectly: Bool { if case .write = largeBlob { true } else { false } }

    /// Refuses required extensions that are unsupported; `nil` stands for U2F, which has no extensions.
    func check(_ info: AuthenticatorInfo?) throws(FIDOError) {
        func knows(_ identifier: String) -> Bool { info?.extensions.contains(identifier) ?? false }
        if salts != nil || !saltsByCredential.isEmpty, !knows("hmac-secret") { throw .unsupported("hmac-secret") }
        if wantsLargeBlobKey, !knows("largeBlobKey") { throw .unsupported("largeBlobKey") }
        if largeBlob != nil, !knows(DirectLargeBlob.identifier) { throw .unsupported(DirectLargeBlob.identifier) }
        try largeBlob?.check()
        if !signing.isEmpty, !knows(PreviewSign.identifier) { throw .unsupported(PreviewSign.identifier) }
    }

    /// The encoded inputs; those that the key does not support are omitted.
    func input(_ info: AuthenticatorInfo, for allowed: [CredentialDescriptor], hmacSecret: CBOR?) -> CBOR.Map {
        var map = CBOR.Map()
        func knows(_ identifier: String) -> Bool { info.extensions.contains(identifier) }
        map["hmac-secret"] = hmacSecret
        if wantsBlob, knows("credBlob") { map["credBlob"] = true }
        if wantsLargeBlobKey { map["largeBlobKey"] = true }
        if asksThirdPartyPayment, knows("thirdPartyPayment") { map["thirdPartyPayment"] = true }
        map[.text(DirectLargeBlob.identifier)] = largeBlob?.cbor
        if allowed.count == 1 { map[.text(PreviewSign.identifier)] = signing[allowed[0].id]?.cbor }
        for entry in others.entries { map[entry.key] = entry.value }
        return map
    }
}

/// Extension outputs of an assertion.
public struct AssertionExtensionOutputs: Sendable {
    /// hmac-secret: the secrets derived from the salts.
    public let secrets: HMACSecrets?
    /// credBlob: the credential's blob.
    public let blob: [UInt8]?
    /// largeBlob: the blob that the credential stores itself, if it was read and there is one.
    public let largeBlob: [UInt8]?
    /// largeBlob: whether the blob was replaced.
    public let wroteLargeBlob: Bool
    /// thirdPartyPayment: whether other sites may use the credential for payments.
    public let allowsThirdPartyPayment: Bool?
    /// previewSign: the signature, DER.
    public let signature: [UInt8]?
    /// All extension outputs by identifier.
    public let all: CBOR.Map

    init(
        _ map: CBOR.Map?, secrets: HMACSecrets?, signature: [UInt8]? = nil, largeBlob: DirectLargeBlob.Output? = nil
    ) {
        let map = map ?? CBOR.Map()
        all = map
        self.largeBlob = largeBlob?.blob
        wroteLargeBlob = largeBlob?.isWritten ?? false
        blob = map["credBlob"]?.bytes
        allowsThirdPartyPayment = map["thirdPartyPayment"]?.bool
        self.secrets = secrets
        self.signature = signature
    }
}
