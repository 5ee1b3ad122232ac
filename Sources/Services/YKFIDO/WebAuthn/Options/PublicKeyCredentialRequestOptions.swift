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
