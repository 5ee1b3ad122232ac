// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A relying party's options for creating a credential (WebAuthn Level 3 §5.4).
public struct PublicKeyCredentialCreationOptions: Hashable, Sendable {
    /// The relying party's identifier, a domain name; `nil` for the host of the origin.
    public var rpID: String?
    /// The relying party's display name.
    public var rpName: String
    /// The account.
    public var user: FIDOUser
    /// The relying party's challenge for this ceremony.
    public var challenge: [UInt8]
    /// The acceptable credential types and algorithms, most preferred first; empty for ES256 and RS256.
    public var parameters: [CredentialParameters]
    /// The timeout of the ceremony, in whole milliseconds.
    public var timeout: Duration?
    /// Credentials that the key must not already have.
    public var excludeCredentials: [PublicKeyCredentialDescriptor]
    /// Requirements for the key.
    public var selection: AuthenticatorSelection
    /// What the user is likely to use.
    public var hints: [PublicKeyCredentialHint]
    /// The attestation that the relying party requests.
    public var attestation: AttestationConveyance
    /// Attestation formats, most preferred first.
    public var attestationFormats: [AttestationFormat]
    /// Extension inputs by identifier, in their JSON form.
    public var extensions: JSONValue.Object

    /// Creates options with the required members only.
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
        extensions = JSONValue.Object()
    }
}
