// SPDX-License-Identifier: Apache-2.0

public import YKWire

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
