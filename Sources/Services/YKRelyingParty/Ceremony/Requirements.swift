// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKWire

/// What a relying party wants of a new credential (WebAuthn Level 3 §5.4).
public struct RegistrationRequirements: Hashable, Sendable {
    /// The algorithms, the preferred first.
    public var algorithms: [COSEAlgorithm] = [.es256, .edDSA, .rs256]
    /// Which authenticators may be used.
    public var selection = AuthenticatorSelection(residentKey: .preferred)
    /// What the user will probably use.
    public var hints: [PublicKeyCredentialHint] = []
    /// The preferred formats of the attestation statement.
    public var attestationFormats: [AttestationFormat] = []
    /// Whether attestation may name the single authenticator (enterprise attestation).
    public var wantsEnterpriseAttestation = false
    /// Whether the browser may create the credential without a gesture (conditional mediation).
    public var isConditional = false
    /// What extensions are to do.
    public var extensions = RegistrationInputs()

    /// Creates requirements for a passkey where the authenticator can store one.
    public init() {}
}

/// What extensions are to do when a credential is created (WebAuthn Level 3 §10, CTAP 2.2 §12).
public struct RegistrationInputs: Hashable, Sendable {
    /// credProps: asks whether the credential is discoverable.
    public var asksCredentialProperties = true
    /// credProtect: when the credential can be used without user verification.
    public var protection: CredentialProtection?
    /// Whether a credential with less protection is refused.
    public var enforcesProtection = false
    /// prf: whether the credential can make secrets; with inputs, the secrets are made at once.
    public var prf: PRFInput?
    /// largeBlob: whether the credential can store bytes.
    public var largeBlob: LargeBlobSupport?
    /// minPinLength: asks for the authenticator's minimum PIN length.
    public var asksMinPINLength = false
    /// appidExclude: the AppID of U2F credentials that must not exist already.
    public var appIDExclude: String?
    /// Inputs of other extensions, in their JSON form.
    public var others = JSON.Object()

    /// Whether bytes can be stored beside the credential (WebAuthn Level 3 §10.1.5).
    public enum LargeBlobSupport: String, Hashable, Sendable {
        /// The registration fails without.
        case required
        /// Where the authenticator can.
        case preferred
    }

    /// Creates inputs that ask for credProps only.
    public init() {}

    /// The inputs as AuthenticationExtensionsClientInputsJSON.
    public var json: JSON.Object {
        var object = JSON.Object([
            ("credProps", asksCredentialProperties ? true : nil),
            ("credentialProtectionPolicy", protection.map { .string($0.description) }),
            ("enforceCredentialProtectionPolicy", protection.map { _ in .bool(enforcesProtection) }),
            ("prf", prf.map(\.json)), ("largeBlob", largeBlob.map { ["support": .string($0.rawValue)] }),
            ("minPinLength", asksMinPINLength ? true : nil), ("appidExclude", appIDExclude.map(JSON.string)),
        ])
        for member in others.members { object[member.key] = member.value }
        return object
    }
}

/// The inputs that prf makes secrets of (WebAuthn Level 3 §10.1.4). The secrets stay in the browser.
public struct PRFInput: Hashable, Sendable {
    /// The first input; `nil` only asks whether the credential can make secrets.
    public var first: [UInt8]?
    /// The second input.
    public var second: [UInt8]?

    /// Creates inputs.
    public init(first: [UInt8]? = nil, second: [UInt8]? = nil) {
        self.first = first
        self.second = second
    }

    var values: JSON? {
        first.map { .object(JSON.Object([("first", .bytes($0)), ("second", second.map(JSON.bytes))])) }
    }

    var json: JSON { .object(JSON.Object([("eval", values)])) }
}

/// What a relying party wants of a credential that signs (WebAuthn Level 3 §5.5).
public struct AuthenticationRequirements: Hashable, Sendable {
    /// Whether the user must be verified.
    public var userVerification = UserVerification.preferred
    /// What the user will probably use.
    public var hints: [PublicKeyCredentialHint] = []
    /// What extensions are to do.
    public var extensions = AuthenticationInputs()

    /// Creates requirements that prefer user verification.
    public init() {}
}

/// What extensions are to do when a credential signs (WebAuthn Level 3 §10).
public struct AuthenticationInputs: Hashable, Sendable {
    /// prf: the inputs that secrets are made of.
    public var prf: PRFInput?
    /// prf: inputs for single credentials, by their identifiers.
    public var prfByCredential: [[UInt8]: PRFInput] = [:]
    /// largeBlob: reads or writes the bytes beside the credential.
    public var largeBlob: LargeBlobAction?
    /// appid: the AppID of credentials that were registered with U2F.
    public var appID: String?
    /// Inputs of other extensions, in their JSON form.
    public var others = JSON.Object()

    /// What is done with the bytes beside the credential (WebAuthn Level 3 §10.1.5).
    public enum LargeBlobAction: Hashable, Sendable {
        /// They are read.
        case read
        /// They are replaced.
        case write([UInt8])
    }

    /// Creates inputs that ask for nothing.
    public init() {}

    /// The inputs as AuthenticationExtensionsClientInputsJSON.
    public var json: JSON.Object {
        var object = JSON.Object([("prf", prfJSON), ("largeBlob", blobJSON), ("appid", appID.map(JSON.string))])
        for member in others.members { object[member.key] = member.value }
        return object
    }

    private var prfJSON: JSON? {
        guard prf != nil || !prfByCredential.isEmpty else { return nil }
        let table = prfByCredential.map { (Base64.encodeURL($0.key), $0.value.values) }.sorted { $0.0 < $1.0 }
        return .object(
            JSON.Object([
                ("eval", prf?.values), ("evalByCredential", table.isEmpty ? nil : .object(JSON.Object(table))),
            ]))
    }

    private var blobJSON: JSON? {
        switch largeBlob {
        case .read: ["read": true]
        case .write(let blob): ["write": .bytes(blob)]
        case nil: nil
        }
    }
}
