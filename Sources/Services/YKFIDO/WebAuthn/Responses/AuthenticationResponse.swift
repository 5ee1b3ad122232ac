// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A client's response with an assertion (WebAuthn Level 3 §5.1, §5.2.2).
public struct AuthenticationResponse: Hashable, Sendable {
    /// The credential's identifier.
    public let id: [UInt8]
    /// The client data in UTF-8; `nil` if only its hash was known.
    public let clientDataJSON: [UInt8]?
    /// The authenticator data.
    public let authenticatorData: AuthenticatorData
    /// The signature over authenticator data and SHA-256 of the client data.
    public let signature: [UInt8]
    /// The account's identifier, for a discoverable credential.
    public let userHandle: [UInt8]?
    /// Whether the key is built into the computer.
    public let attachment: AuthenticatorAttachment?
    /// Extension results by identifier.
    public let clientExtensionResults: JSONValue.Object

    /// Creates a response.
    public init(
        id: [UInt8], clientDataJSON: [UInt8]?, authenticatorData: AuthenticatorData, signature: [UInt8],
        userHandle: [UInt8]? = nil, attachment: AuthenticatorAttachment? = nil,
        clientExtensionResults: JSONValue.Object = JSONValue.Object()
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
