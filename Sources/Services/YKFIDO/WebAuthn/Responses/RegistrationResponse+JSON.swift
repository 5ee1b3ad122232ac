// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension RegistrationResponse {
    /// The response as RegistrationResponseJSON (WebAuthn Level 3 §5.1).
    public var json: JSONValue {
        let response = JSONValue.Object([
            ("clientDataJSON", clientDataJSON.map(JSONValue.bytes)),
            ("attestationObject", .bytes(attestationObjectBytes)),
            ("authenticatorData", .bytes(attestationObject.authenticatorData.bytes)),
            ("transports", .array(transports.map { .string($0.rawValue) })),
            ("publicKey", publicKey?.subjectPublicKeyInfo.map(JSONValue.bytes)),
            ("publicKeyAlgorithm", publicKey?.algorithm.map { .int($0.rawValue) }),
        ])
        return .credential(id, response, attachment, clientExtensionResults)
    }

    /// Reads RegistrationResponseJSON.
    ///
    /// - Throws: `member` with the path of the invalid member, including if the identifier is not the one that the key
    ///   signed.
    public init(json: JSONValue) throws(WebAuthnError) {
        let members = try JSONMembers(json)
        id = try members.credentialID()
        let response = try members.requiredMembers("response")
        clientDataJSON = try response.optional("clientDataJSON", .bytes)
        attestationObjectBytes = try response.required("attestationObject", .bytes)
        attestationObject = try response.decode("attestationObject", attestationObjectBytes) {
            bytes throws(WireError) in
            try AttestationObject(decoding: bytes)
        }
        guard attestationObject.authenticatorData.credential?.id == id else {
            throw .member("id", problem: "not the identifier in the attestation object")
        }
        transports = try response.list("transports", of: .string)?.map(AuthenticatorTransport.init(rawValue:)) ?? []
        attachment = try members.attachment()
        clientExtensionResults = try members.optional("clientExtensionResults", .object) ?? JSONValue.Object()
        isResident = nil
        isEnterpriseAttestation = nil
    }

    /// Parses JSON.
    public init(parsing text: [UInt8]) throws(WebAuthnError) { try self.init(json: JSONValue.response(text)) }
}

extension JSONValue {
    /// The members that both responses have around `response`.
    static func credential(
        _ id: [UInt8], _ response: Object, _ attachment: AuthenticatorAttachment?, _ results: Object
    ) -> JSONValue {
        .object(
            Object([
                ("id", .bytes(id)), ("rawId", .bytes(id)), ("type", .string(CredentialDescriptor.publicKey)),
                ("response", .object(response)), ("authenticatorAttachment", attachment.map { .string($0.rawValue) }),
                ("clientExtensionResults", .object(results)),
            ]))
    }

    /// Parses JSON.
    static func response(_ text: [UInt8]) throws(WebAuthnError) -> JSONValue {
        do { return try JSONValue(parsing: text) } catch { throw .json(error) }
    }
}

extension JSONMembers {
    /// Reads `id`, and checks that `rawId` and `type`, if present, match.
    func credentialID() throws(WebAuthnError) -> [UInt8] {
        let id = try required("id", .bytes)
        if let raw = try optional("rawId", .bytes), raw != id {
            throw .member(path(of: "rawId"), problem: "not the same as id")
        }
        if let type = try optional("type", .string), type != CredentialDescriptor.publicKey {
            throw .member(
                path(of: "type"), problem: "expected \(CredentialDescriptor.publicKey), got a different string")
        }
        return id
    }

    func attachment() throws(WebAuthnError) -> AuthenticatorAttachment? {
        try optional("authenticatorAttachment", .string).map(AuthenticatorAttachment.init(rawValue:))
    }

    /// Decodes the bytes of a member.
    package func decode<Value>(
        _ key: String, _ bytes: [UInt8], _ read: ([UInt8]) throws(WireError) -> Value
    ) throws(WebAuthnError) -> Value {
        do { return try read(bytes) } catch { throw .member(path(of: key), problem: error.description) }
    }
}
