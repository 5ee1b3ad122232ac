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

extension PublicKeyCredentialCreationOptions {
    /// Reads PublicKeyCredentialCreationOptionsJSON (WebAuthn Level 3 §5.1.8), bare or under `publicKey`.
    ///
    /// Unknown members are ignored, unknown enumeration values are treated as absent.
    ///
    /// - Throws: `member` with the path of the invalid member.
    public init(json: JSONValue) throws(WebAuthnError) {
        let members = try JSONMembers(json.underPublicKey)
        let party = try members.requiredMembers("rp")
        rpID = try party.optional("id", .string)
        rpName = try party.required("name", .string)
        user = try FIDOUser(members.requiredMembers("user"))
        challenge = try members.required("challenge", .bytes)
        parameters = try Self.parameters(members)
        timeout = try members.optional("timeout", .unsigned).map { .milliseconds($0) }
        excludeCredentials = try members.descriptors("excludeCredentials")
        selection =
            try members.members("authenticatorSelection").map(AuthenticatorSelection.init)
            ?? AuthenticatorSelection()
        hints = try members.list("hints", of: .string)?.map(PublicKeyCredentialHint.init(rawValue:)) ?? []
        attestation =
            try members.optional("attestation", .string).flatMap(AttestationConveyance.init(rawValue:)) ?? .none
        attestationFormats =
            try members.list("attestationFormats", of: .string)?.map(AttestationFormat.init(rawValue:)) ?? []
        extensions = try members.optional("extensions", .object) ?? JSONValue.Object()
    }

    /// Parses JSON.
    public init(parsing text: [UInt8]) throws(WebAuthnError) { try self.init(json: JSONValue.publicKeyOptions(text)) }

    private static func parameters(_ members: JSONMembers) throws(WebAuthnError) -> [CredentialParameters] {
        guard let list = try members.membersList("pubKeyCredParams") else {
            throw .member("pubKeyCredParams", problem: "expected array, got nothing")
        }
        var parameters: [CredentialParameters] = []
        for entry in list {
            parameters.append(
                CredentialParameters(
                    COSEAlgorithm(try entry.required("alg", .long)), type: try entry.required("type", .string)))
        }
        return parameters
    }

    /// The options as PublicKeyCredentialCreationOptionsJSON, bare.
    public var json: JSONValue {
        .object(
            JSONValue.Object([
                ("rp", .object(JSONValue.Object([("id", rpID.map(JSONValue.string)), ("name", .string(rpName))]))),
                ("user", user.json), ("challenge", .bytes(challenge)),
                ("pubKeyCredParams", .array(parameters.map(\.json))),
                ("timeout", timeout.map { .int($0.wholeMilliseconds) }),
                ("excludeCredentials", .array(excludeCredentials.map(\.json))),
                ("authenticatorSelection", selection.json),
                ("hints", .array(hints.map { .string($0.rawValue) })),
                ("attestation", .string(attestation.rawValue)),
                ("attestationFormats", .array(attestationFormats.map { .string($0.rawValue) })),
                ("extensions", .object(extensions)),
            ]))
    }
}

extension FIDOUser {
    init(_ members: JSONMembers) throws(WebAuthnError) {
        self.init(
            id: try members.required("id", .bytes), name: try members.optional("name", .string),
            displayName: try members.required("displayName", .string))
        guard (1...64).contains(id.count) else {
            throw .member(members.path(of: "id"), problem: "\(id.count) bytes, expected 1 to 64")
        }
    }

    var json: JSONValue {
        .object(
            JSONValue.Object([
                ("id", .bytes(id)), ("name", name.map(JSONValue.string)),
                ("displayName", displayName.map(JSONValue.string)),
            ]))
    }
}

extension CredentialParameters {
    var json: JSONValue { .object(JSONValue.Object([("type", .string(type)), ("alg", .int(algorithm.rawValue))])) }
}

extension JSONMembers {
    /// A list of credentials.
    func descriptors(_ key: String) throws(WebAuthnError) -> [PublicKeyCredentialDescriptor] {
        var list: [PublicKeyCredentialDescriptor] = []
        for entry in try membersList(key) ?? [] { list.append(try PublicKeyCredentialDescriptor(entry)) }
        return list
    }
}
