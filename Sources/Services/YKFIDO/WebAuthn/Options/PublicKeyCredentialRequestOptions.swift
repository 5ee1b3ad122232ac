// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A relying party's options for an assertion (WebAuthn Level 3 §5.5).
public struct PublicKeyCredentialRequestOptions: Hashable, Sendable {
    /// The relying party's challenge for this ceremony.
    public var challenge: [UInt8]
    /// The timeout of the ceremony, in whole milliseconds.
    public var timeout: Duration?
    /// The relying party's identifier, a domain name; `nil` for the host of the origin.
    public var rpID: String?
    /// The allowed credentials; empty for discoverable credentials.
    public var allowCredentials: [PublicKeyCredentialDescriptor]
    /// Whether the user must be verified.
    public var userVerification: UserVerification
    /// What the user is likely to use.
    public var hints: [PublicKeyCredentialHint]
    /// Extension inputs by identifier, in their JSON form.
    public var extensions: JSONValue.Object

    /// Creates options with the required members only.
    public init(rpID: String? = nil, challenge: [UInt8], allowCredentials: [PublicKeyCredentialDescriptor] = []) {
        self.rpID = rpID
        self.challenge = challenge
        self.allowCredentials = allowCredentials
        userVerification = .preferred
        hints = []
        extensions = JSONValue.Object()
    }
}
