// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// What is asked for when a credential is made. Of each name as much is sent as 64 bytes hold.
public struct RegistrationRequest: Sendable {
    /// SHA-256 of the client data.
    public var clientDataHash: [UInt8]
    /// Who the credential is for.
    public var relyingParty: RelyingParty
    /// The account it is for.
    public var user: FIDOUser
    /// The algorithms that are welcome, the best first.
    public var algorithms: [COSEAlgorithm] = [.es256, .edDSA, .rs256]
    /// Credentials that the key must not have already.
    public var excludeList: [CredentialDescriptor] = []
    /// Whether the key remembers the credential itself.
    public var isResident = false
    /// Whether the user has to be verified.
    public var userVerification = UserVerification.preferred
    /// Enterprise attestation: 1 facilitated by the vendor, 2 managed by the platform.
    public var enterpriseAttestation: UInt64?
    /// Attestation formats, the preferred first.
    public var attestationFormats: [AttestationFormat] = []
    /// What extensions are to do.
    public var extensions = RegistrationExtensions()
    /// Another identifier that credentials of the list may be for: the AppID of U2F (WebAuthn Level 3 §10.1.2).
    public var alsoExcludedFor: String?
    /// Whether U2F is spoken although the key knows CTAP2.
    public var usesU2F = false
    /// How long all of it may take; each message to the key has the environment's time at most.
    public var timeout: Duration?

    /// Creates a request.
    public init(clientDataHash: [UInt8], relyingParty: RelyingParty, user: FIDOUser) {
        self.clientDataHash = clientDataHash
        self.relyingParty = relyingParty
        self.user = user
    }
}

/// A credential that was made.
public struct Registration: Sendable {
    /// What the key answered.
    public let response: MakeCredential.Response
    /// What extensions answered.
    public let extensions: RegistrationExtensionOutputs
    /// Whether the key remembers the credential; as it was asked for.
    public let isResident: Bool
}

/// What is asked for when a credential signs.
public struct AssertionRequest: Sendable {
    /// Who asks.
    public var rpID: String
    /// SHA-256 of the client data.
    public var clientDataHash: [UInt8]
    /// The credentials that are welcome; empty for those that the key remembers itself.
    public var allowList: [CredentialDescriptor] = []
    /// Whether the user has to be verified.
    public var userVerification = UserVerification.preferred
    /// Whether the key waits for a touch.
    public var requiresPresence = true
    /// What extensions are to do.
    public var extensions = AssertionExtensions()
    /// Another identifier that the credentials may be for, tried when none is for ``rpID``: the AppID of U2F
    /// (WebAuthn Level 3 §10.1.1).
    public var alternativeID: String?
    /// Whether U2F is spoken although the key knows CTAP2.
    public var usesU2F = false
    /// How long all of it may take; each message to the key has the environment's time at most.
    public var timeout: Duration?

    /// Creates a request.
    public init(rpID: String, clientDataHash: [UInt8], allowList: [CredentialDescriptor] = []) {
        self.rpID = rpID
        self.clientDataHash = clientDataHash
        self.allowList = allowList
    }
}

/// A signature of one credential.
public struct Assertion: Sendable {
    /// What the key answered.
    public let response: GetAssertion.Response
    /// Which credential signed.
    public let credential: CredentialDescriptor
    /// Who it is for: the identifier that was asked for, or the alternative one.
    public let rpID: String
    /// What extensions answered.
    public let extensions: AssertionExtensionOutputs
}
