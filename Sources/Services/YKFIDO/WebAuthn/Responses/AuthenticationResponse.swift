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

extension AuthenticationResponse {
    /// The response as AuthenticationResponseJSON (WebAuthn Level 3 §5.1).
    public var json: JSONValue {
        let response = JSONValue.Object([
            ("clientDataJSON", clientDataJSON.map(JSONValue.bytes)),
            ("authenticatorData", .bytes(authenticatorData.bytes)), ("signature", .bytes(signature)),
            ("userHandle", userHandle.map(JSONValue.bytes)),
        ])
        return .credential(id, response, attachment, clientExtensionResults)
    }

    /// Reads AuthenticationResponseJSON.
    ///
    /// - Throws: `member` with the path of the invalid member.
    public init(json: JSONValue) throws(WebAuthnError) {
        let members = try JSONMembers(json)
        let response = try members.requiredMembers("response")
        let data = try response.required("authenticatorData", .bytes)
        self.init(
            id: try members.credentialID(), clientDataJSON: try response.optional("clientDataJSON", .bytes),
            authenticatorData: try response.decode("authenticatorData", data) { bytes throws(WireError) in
                try AuthenticatorData(decoding: bytes)
            },
            signature: try response.required("signature", .bytes),
            userHandle: try response.optional("userHandle", .bytes), attachment: try members.attachment(),
            clientExtensionResults: try members.optional("clientExtensionResults", .object) ?? JSONValue.Object())
    }

    /// Parses JSON.
    public init(parsing text: [UInt8]) throws(WebAuthnError) { try self.init(json: JSONValue.response(text)) }
}
