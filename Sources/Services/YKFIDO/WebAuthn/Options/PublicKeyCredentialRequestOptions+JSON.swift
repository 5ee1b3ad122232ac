// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension PublicKeyCredentialRequestOptions {
    /// Reads PublicKeyCredentialRequestOptionsJSON (WebAuthn Level 3 §5.1.9), bare or under `publicKey`.
    ///
    /// Unknown members are ignored, unknown enumeration values are treated as absent.
    ///
    /// - Throws: `member` with the path of the invalid member.
    public init(json: JSONValue) throws(WebAuthnError) {
        let members = try JSONMembers(json.underPublicKey)
        challenge = try members.required("challenge", .bytes)
        timeout = try members.optional("timeout", .unsigned).map { .milliseconds($0) }
        rpID = try members.optional("rpId", .string)
        allowCredentials = try members.descriptors("allowCredentials")
        userVerification = try UserVerification(members)
        hints = try members.list("hints", of: .string)?.map(PublicKeyCredentialHint.init(rawValue:)) ?? []
        extensions = try members.optional("extensions", .object) ?? JSONValue.Object()
    }

    /// Parses JSON.
    public init(parsing text: [UInt8]) throws(WebAuthnError) { try self.init(json: JSONValue.publicKeyOptions(text)) }

    /// The options as PublicKeyCredentialRequestOptionsJSON, bare.
    public var json: JSONValue {
        .object(
            JSONValue.Object([
                ("challenge", .bytes(challenge)), ("timeout", timeout.map { .int($0.wholeMilliseconds) }),
                ("rpId", rpID.map(JSONValue.string)), ("allowCredentials", .array(allowCredentials.map(\.json))),
                ("userVerification", .string(userVerification.rawValue)),
                ("hints", .array(hints.map { .string($0.rawValue) })), ("extensions", .object(extensions)),
            ]))
    }
}
