// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// What a client answers when a credential signed (WebAuthn Level 3 §5.1, §5.2.2).
public struct AuthenticationResponse: Hashable, Sendable {
    /// The credential's identifier.
    public let id: [UInt8]
    /// The client data in UTF-8; `nil` when only their hash was known.
    public let clientDataJSON: [UInt8]?
    /// What the key says of the credential's use.
    public let authenticatorData: AuthenticatorData
    /// The signature over authenticator data and SHA-256 of the client data.
    public let signature: [UInt8]
    /// The account's identifier, for a credential that the key remembers.
    public let userHandle: [UInt8]?
    /// Whether the key is part of the machine.
    public let attachment: AuthenticatorAttachment?
    /// What extensions answered, by their identifiers.
    public let clientExtensionResults: JSON.Object

    /// Creates an answer.
    public init(
        id: [UInt8], clientDataJSON: [UInt8]?, authenticatorData: AuthenticatorData, signature: [UInt8],
        userHandle: [UInt8]? = nil, attachment: AuthenticatorAttachment? = nil,
        clientExtensionResults: JSON.Object = JSON.Object()
    ) {
        self.id = id
        self.clientDataJSON = clientDataJSON
        self.authenticatorData = authenticatorData
        self.signature = signature
        self.userHandle = userHandle
        self.attachment = attachment
        self.clientExtensionResults = clientExtensionResults
    }
}
