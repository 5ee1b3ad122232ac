// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKWire

/// A relying party's requirements for a new credential (WebAuthn Level 3 §5.4).
public struct RegistrationRequirements: Hashable, Sendable {
    /// The algorithms in order of preference.
    public var algorithms: [COSEAlgorithm] = [.es256, .edDSA, .rs256]
    /// The requirements for the authenticator.
    public var selection = AuthenticatorSelection(residentKey: .preferred)
    /// Hints about the authenticator that the user is likely to use.
    public var hints: [PublicKeyCredentialHint] = []
    /// The preferred attestation statement formats.
    public var attestationFormats: [AttestationFormat] = []
    /// Whether to request attestation that identifies the individual authenticator (enterprise attestation).
    public var wantsEnterpriseAttestation = false
    /// Whether the browser may create the credential without a gesture (conditional mediation).
    public var isConditional = false
    /// The extension inputs.
    public var extensions = RegistrationInputs()

    /// Creates requirements for a passkey, if the authenticator can store one.
    public init() {}
}

/// The extension inputs for creating a credential (WebAuthn Level 3 §10, CTAP 2.2 §12).
public struct RegistrationInputs: Hashable, Sendable {
    /// credProps: requests whether the credential is discoverable.
    public var asksCredentialProperties = true
    /// credProtect: when the credential can be used without user verification.
    public var protection: CredentialProtection?
    /// Whether a credential with less protection is refused.
    public var enforcesProtection = false
    /// prf: requests whether the credential can derive secrets; with inputs, the secrets are derived immediately.
    public var prf: PRFInput?
    /// largeBlob: whether the credential should be able to store bytes.
    public var largeBlob: LargeBlobSupport?
    /// minPinLength: requests the authenticator's minimum PIN length.
    public var asksMinPINLength = false
    /// payment: whether other sites may ask for the credential to confirm payments (Secure Payment Confirmation, and
    /// thirdPartyPayment of CTAP 2.2 §12.10).
    public var allowsPayments = false
    /// appidExclude: the AppID of U2F credentials that must not already exist.
    public var appIDExclude: String?
    /// previewSign: the algorithms of a key that signs arbitrary data, to be made with the credential; empty for none.
    /// Experimental, see `PreviewSign`.
    public var signingKeyAlgorithms: [COSEAlgorithm] = []
    /// Inputs of other extensions, in JSON form.
    public var others = JSONValue.Object()

    /// Whether bytes can be stored with the credential (WebAuthn Level 3 §10.1.5).
    public enum LargeBlobSupport: String, Hashable, Sendable {
        /// The registration fails without support.
        case required
        /// Used if the authenticator supports it.
        case preferred
    }

    /// Creates inputs that request only credProps.
    public init() {}

    /// The inputs as AuthenticationExtensionsClientInputsJSON.
    public var json: JSONValue.Object {
        var object = JSONValue.Object([
            ("credProps", asksCredentialProperties ? true : nil),
            ("credentialProtectionPolicy", protection.map { .string($0.description) }),
            ("enforceCredentialProtectionPolicy", protection.map { _ in .bool(enforcesProtection) }),
            ("prf", prf.map(\.json)), ("largeBlob", largeBlob.map { ["support": .string($0.rawValue)] }),
            ("minPinLength", asksMinPINLength ? true : nil), ("payment", allowsPayments ? ["isPayment": true] : nil),
            ("appidExclude", appIDExclude.map(JSONValue.string)),
            ("previewSign", signingKeyJSON),
        ])
        for member in others.members { object[member.key] = member.value }
        return object
    }

    private var signingKeyJSON: JSONValue? {
        guard !signingKeyAlgorithms.isEmpty else { return nil }
        return ["generateKey": ["algorithms": .array(signingKeyAlgorithms.map { .int($0.rawValue) })]]
    }
}

/// The inputs from which prf derives secrets (WebAuthn Level 3 §10.1.4). The secrets stay in the browser.
public struct PRFInput: Hashable, Sendable {
    /// The first input; `nil` only requests whether the credential can derive secrets.
    public var first: [UInt8]?
    /// The second input.
    public var second: [UInt8]?

    /// Creates inputs.
    public init(first: [UInt8]? = nil, second: [UInt8]? = nil) {
        self.first = first
        self.second = second
    }

    var values: JSONValue? {
        first.map { .object(JSONValue.Object([("first", .bytes($0)), ("second", second.map(JSONValue.bytes))])) }
    }

    var json: JSONValue { .object(JSONValue.Object([("eval", values)])) }
}

/// A relying party's requirements for an authentication (WebAuthn Level 3 §5.5).
public struct AuthenticationRequirements: Hashable, Sendable {
    /// Whether the user must be verified.
    public var userVerification = UserVerification.preferred
    /// Hints about the authenticator that the user is likely to use.
    public var hints: [PublicKeyCredentialHint] = []
    /// The extension inputs.
    public var extensions = AuthenticationInputs()

    /// Creates requirements that prefer user verification.
    public init() {}
}

/// The extension inputs for an authentication (WebAuthn Level 3 §10).
public struct AuthenticationInputs: Hashable, Sendable {
    /// prf: the inputs from which secrets are derived.
    public var prf: PRFInput?
    /// prf: inputs for individual credentials, by their identifiers.
    public var prfByCredential: [[UInt8]: PRFInput] = [:]
    /// largeBlob: reads or writes the bytes stored with the credential.
    public var largeBlob: LargeBlobAction?
    /// payment: a payment that the user confirms. The answer must state it.
    public var payment: Payment?
    /// appid: the AppID of credentials registered with U2F.
    public var appID: String?
    /// previewSign: what to sign, for each of the allowed credentials. Experimental, see `PreviewSign`.
    public var signing: [[UInt8]: PreviewSign.Input] = [:]
    /// Inputs of other extensions, in JSON form.
    public var others = JSONValue.Object()

    /// An operation on the bytes stored with the credential (WebAuthn Level 3 §10.1.5).
    public enum LargeBlobAction: Hashable, Sendable {
        /// Reads the bytes.
        case read
        /// Replaces the bytes.
        case write([UInt8])
    }

    /// Creates empty inputs.
    public init() {}

    /// The inputs as AuthenticationExtensionsClientInputsJSON.
    public var json: JSONValue.Object {
        var object = JSONValue.Object([
            ("prf", prfJSON), ("largeBlob", blobJSON), ("payment", payment?.json),
            ("appid", appID.map(JSONValue.string)),
            ("previewSign", signing.isEmpty ? nil : ["signByCredential": signingJSON]),
        ])
        for member in others.members { object[member.key] = member.value }
        return object
    }

    private var prfJSON: JSONValue? {
        guard prf != nil || !prfByCredential.isEmpty else { return nil }
        let table = prfByCredential.map { (Base64.encodeURL($0.key), $0.value.values) }.sorted { $0.0 < $1.0 }
        return .object(
            JSONValue.Object([
                ("eval", prf?.values), ("evalByCredential", table.isEmpty ? nil : .object(JSONValue.Object(table))),
            ]))
    }

    private var signingJSON: JSONValue {
        let table = signing.map { id, input in
            (
                Base64.encodeURL(id),
                JSONValue.object(
                    JSONValue.Object([
                        ("keyHandle", .bytes(input.keyHandle)), ("tbs", .bytes(input.toBeSigned)),
                        ("additionalArgs", input.arguments.map(JSONValue.bytes)),
                    ])) as JSONValue?
            )
        }
        return .object(JSONValue.Object(table.sorted { $0.0 < $1.0 }))
    }

    private var blobJSON: JSONValue? {
        switch largeBlob {
        case .read: ["read": true]
        case .write(let blob): ["write": .bytes(blob)]
        case nil: nil
        }
    }
}

/// What the client data of an answer must state (WebAuthn Level 3 §7.1 steps 7 to 11, §7.2 steps 10 to 14).
public struct ClientDataRequirements: Hashable, Sendable {
    /// The operation.
    public var type: ClientData.Kind
    /// The challenge; `nil` if it is unknown and not checked.
    public var challenge: [UInt8]?
    /// The origins that may run ceremonies; `nil` if they are unknown and not checked.
    public var origins: Set<String>?
    /// The origins of pages that may embed the relying party's pages; empty for none.
    public var topOrigins: Set<String> = []
    /// The page of whoever is paid, in which a payment is confirmed.
    var shop: String?

    /// Requires the operation, and that the page is not embedded in one of another origin.
    public init(_ type: ClientData.Kind) { self.type = type }

    /// Checks client data.
    ///
    /// - Throws: `type`, `challenge`, `origin`, `crossOrigin` or `topOrigin`.
    public func check(_ data: ClientData) throws(CeremonyError) {
        guard data.type == type else { throw .type(data.type) }
        if let challenge, data.challenge != challenge { throw .challenge }
        if let origins, !origins.contains(data.origin), data.origin != shop { throw .origin(data.origin) }
        if data.crossOrigin == true, topOrigins.isEmpty, shop == nil { throw .crossOrigin }
        if let top = data.topOrigin, !topOrigins.contains(top), top != shop { throw .topOrigin(top) }
    }
}
