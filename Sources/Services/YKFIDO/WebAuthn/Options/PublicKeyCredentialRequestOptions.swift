// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// What a relying party asks for when a credential is to sign (WebAuthn Level 3 §5.5).
public struct PublicKeyCredentialRequestOptions: Hashable, Sendable {
    /// Bytes that the credential signs, chosen by the relying party for this ceremony.
    public var challenge: [UInt8]
    /// How long the ceremony may take, in milliseconds.
    public var timeout: UInt64?
    /// The relying party's identifier, a domain name; `nil` for the host of the origin.
    public var rpID: String?
    /// The credentials that are welcome; empty for those that the key remembers itself.
    public var allowCredentials: [PublicKeyCredentialDescriptor]
    /// Whether the user has to be verified.
    public var userVerification: UserVerification
    /// What the user will probably use.
    public var hints: [PublicKeyCredentialHint]
    /// Inputs of extensions by their identifiers, in their JSON form.
    public var extensions: JSON.Object

    /// Makes options in which only the necessary is said.
    public init(rpID: String? = nil, challenge: [UInt8], allowCredentials: [PublicKeyCredentialDescriptor] = []) {
        self.rpID = rpID
        self.challenge = challenge
        self.allowCredentials = allowCredentials
        userVerification = .preferred
        hints = []
        extensions = JSON.Object()
    }
}
