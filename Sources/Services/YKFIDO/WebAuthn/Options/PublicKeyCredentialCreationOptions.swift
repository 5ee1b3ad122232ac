// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// What a relying party asks for when a credential is to be made (WebAuthn Level 3 §5.4).
public struct PublicKeyCredentialCreationOptions: Hashable, Sendable {
    /// The relying party's identifier, a domain name; `nil` for the host of the origin.
    public var rpID: String?
    /// The relying party's name for people.
    public var rpName: String
    /// The account.
    public var user: FIDOUser
    /// Bytes that the credential signs, chosen by the relying party for this ceremony.
    public var challenge: [UInt8]
    /// The kinds of credential that are welcome, the best first; empty for ES256 and RS256.
    public var parameters: [CredentialParameters]
    /// How long the ceremony may take, in milliseconds.
    public var timeout: UInt64?
    /// Credentials that the key must not have already.
    public var excludeCredentials: [PublicKeyCredentialDescriptor]
    /// What kind of key may be used.
    public var selection: AuthenticatorSelection
    /// What the user will probably use.
    public var hints: [PublicKeyCredentialHint]
    /// What the relying party wants to know of the key's origin.
    public var attestation: AttestationConveyance
    /// Attestation formats, the preferred first.
    public var attestationFormats: [AttestationFormat]
    /// Inputs of extensions by their identifiers, in their JSON form.
    public var extensions: JSON.Object

    /// Makes options in which only the necessary is said.
    public init(rpID: String? = nil, rpName: String, user: FIDOUser, challenge: [UInt8]) {
        self.rpID = rpID
        self.rpName = rpName
        self.user = user
        self.challenge = challenge
        parameters = []
        excludeCredentials = []
        selection = AuthenticatorSelection()
        hints = []
        attestation = .none
        attestationFormats = []
        extensions = JSON.Object()
    }
}
