// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A request to create a credential. Names are truncated to 64 bytes.
public struct RegistrationRequest: Sendable {
    /// SHA-256 of the client data.
    public var clientDataHash: [UInt8]
    /// The relying party.
    public var relyingParty: RelyingParty
    /// The user account.
    public var user: FIDOUser
    /// The acceptable algorithms, most preferred first.
    public var algorithms: [COSEAlgorithm] = [.es256, .edDSA, .rs256]
    /// Credentials that the key must not already have.
    public var excludeList: [CredentialDescriptor] = []
    /// Whether the credential is discoverable.
    public var isResident = false
    /// Whether the user must be verified.
    public var userVerification = UserVerification.preferred
    /// Enterprise attestation: 1 facilitated by the vendor, 2 managed by the platform.
    public var enterpriseAttestation: UInt64?
    /// Attestation formats, most preferred first.
    public var attestationFormats: [AttestationFormat] = []
    /// Extension inputs.
    public var extensions = RegistrationExtensions()
    /// Another identifier that credentials of the list may have: the AppID of U2F (WebAuthn Level 3 §10.1.2).
    public var alsoExcludedFor: String?
    /// Whether to use U2F although the key supports CTAP2.
    public var usesU2F = false
    /// The timeout of the whole operation; each message is also limited by the environment's timeout.
    public var timeout: Duration?

    /// Creates a request.
    public init(clientDataHash: [UInt8], relyingParty: RelyingParty, user: FIDOUser) {
        self.clientDataHash = clientDataHash
        self.relyingParty = relyingParty
        self.user = user
    }
}

/// A new credential.
public struct Registration: Sendable {
    /// The key's response.
    public let response: MakeCredential.Response
    /// Extension outputs.
    public let extensions: RegistrationExtensionOutputs
    /// Whether the credential is discoverable, as requested.
    public let isResident: Bool
}

/// A request for an assertion.
public struct AssertionRequest: Sendable {
    /// The relying party's identifier.
    public var rpID: String
    /// SHA-256 of the client data.
    public var clientDataHash: [UInt8]
    /// The allowed credentials; empty for discoverable credentials.
    public var allowList: [CredentialDescriptor] = []
    /// Whether the user must be verified.
    public var userVerification = UserVerification.preferred
    /// Whether a touch is required.
    public var requiresPresence = true
    /// Extension inputs.
    public var extensions = AssertionExtensions()
    /// Another identifier that the credentials may have, tried if none matches ``rpID``: the AppID of U2F
    /// (WebAuthn Level 3 §10.1.1).
    public var alternativeID: String?
    /// Whether to use U2F although the key supports CTAP2.
    public var usesU2F = false
    /// The timeout of the whole operation; each message is also limited by the environment's timeout.
    public var timeout: Duration?

    /// Creates a request.
    public init(rpID: String, clientDataHash: [UInt8], allowList: [CredentialDescriptor] = []) {
        self.rpID = rpID
        self.clientDataHash = clientDataHash
        self.allowList = allowList
    }
}

/// An assertion of one credential.
public struct Assertion: Sendable {
    /// The key's response.
    public let response: GetAssertion.Response
    /// The credential that signed.
    public let credential: CredentialDescriptor
    /// The identifier that matched: the requested one, or the alternative one.
    public let rpID: String
    /// Extension outputs.
    public let extensions: AssertionExtensionOutputs
}
