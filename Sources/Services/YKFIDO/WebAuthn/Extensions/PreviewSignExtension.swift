// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// previewSign: a key that signs arbitrary data, created with a credential and used in its assertions (WebAuthn's sign
/// extension, version 4 of 2025-08-21). Experimental, see ``PreviewSign``.
public struct PreviewSignExtension: ClientExtension {
    private static let name = PreviewSign.identifier

    /// Creates the extension.
    public init() {}

    /// Reads `previewSign.generateKey.algorithms`.
    public func prepare(_ request: inout RegistrationRequest, _ ceremony: CreationCeremony) throws(WebAuthnError) {
        guard let input = try ceremony.inputs.members(Self.name) else { return }
        try Self.refuse("signByCredential", in: input, "only allowed in an assertion")
        let wanted = try input.requiredMembers("generateKey")
        guard let algorithms = try wanted.list("algorithms", of: .int), !algorithms.isEmpty else {
            throw .member(wanted.path(of: "algorithms"), problem: "expected algorithm numbers, got an empty array")
        }
        guard ceremony.keyKnows(Self.name) else { return }
        let isVerified = ceremony.options.selection.userVerification == .required
        request.extensions.signingKey = PreviewSign.Request(
            algorithms: algorithms.map(COSEAlgorithm.init(rawValue:)), policy: isVerified ? .verification : .presence)
    }

    /// `previewSign.generatedKey`. Its attestation is conveyed as the credential's is.
    public func finish(
        _ results: inout JSONValue.Object, _ registration: Registration, _ ceremony: CreationCeremony
    ) throws(WebAuthnError) {
        guard let key = registration.extensions.signingKey else { return }
        let object = key.attestationObject.conveyed(ceremony.options.attestation)
        results[Self.name] = [
            "generatedKey": [
                "keyHandle": .bytes(key.keyHandle), "publicKey": .bytes(key.publicKey.encoded),
                "algorithm": .int(key.algorithm.rawValue), "attestationObject": .bytes(object.encoded),
            ]
        ]
    }

    /// Reads `previewSign.signByCredential`, whose keys are exactly the allowed credentials.
    public func prepare(_ request: inout AssertionRequest, _ ceremony: RequestCeremony) throws(WebAuthnError) {
        guard let input = try ceremony.inputs.members(Self.name) else { return }
        try Self.refuse("generateKey", in: input, "only allowed when creating a credential")
        let table = try input.requiredMembers("signByCredential")
        var inputs: [[UInt8]: PreviewSign.Input] = [:]
        for name in table.object.members.map(\.key) {
            guard let id = try? Base64.decode(name), inputs[id] == nil else {
                throw .member(table.path(of: name), problem: "not an identifier in base64url", name: .syntax)
            }
            inputs[id] = try Self.input(try table.requiredMembers(name), at: table.path(of: name))
        }
        let allowed = Set(ceremony.options.allowCredentials.map(\.id))
        guard !allowed.isEmpty else {
            throw .member(input.path(of: "signByCredential"), problem: "allowCredentials is empty", name: .notSupported)
        }
        guard allowed == Set(inputs.keys) else {
            throw .member(
                input.path(of: "signByCredential"), problem: "its credentials are not those in allowCredentials",
                name: .syntax)
        }
        if ceremony.keyKnows(Self.name) { request.extensions.signing = inputs }
    }

    /// `previewSign.signature`.
    public func finish(
        _ results: inout JSONValue.Object, _ assertion: Assertion, _ ceremony: RequestCeremony
    ) throws(WebAuthnError) {
        guard ceremony.inputs[Self.name] != nil, let signature = assertion.extensions.signature else { return }
        results[Self.name] = ["signature": .bytes(signature)]
    }

    private static func input(_ members: JSONMembers, at path: String) throws(WebAuthnError) -> PreviewSign.Input {
        let (handle, message) = (try members.required("keyHandle", .bytes), try members.required("tbs", .bytes))
        let arguments = try members.optional("additionalArgs", .bytes)
        do { return try PreviewSign.Input(keyHandle: handle, toBeSigned: message, arguments: arguments) } catch {
            throw .member(path, problem: error.description)
        }
    }

    private static func refuse(_ name: String, in input: JSONMembers, _ why: String) throws(WebAuthnError) {
        guard input[name] == nil else { throw .member(input.path(of: name), problem: why, name: .notSupported) }
    }
}

extension PreviewSign.GeneratedKey {
    /// Reads `previewSign.generatedKey` in the results of a registration; `nil` if there is none.
    ///
    /// - Throws: `member` with the path of the invalid member, including if handle and key do not match the
    ///   attestation.
    public init?(results: JSONValue.Object) throws(WebAuthnError) {
        guard let output = try JSONMembers(results, at: "clientExtensionResults").members(PreviewSign.identifier),
            let members = try output.members("generatedKey")
        else { return nil }
        let algorithm = COSEAlgorithm(rawValue: try members.required("algorithm", .int))
        let bytes = try members.required("attestationObject", .bytes)
        self = try members.decode("attestationObject", bytes) { bytes throws(WireError) in
            try Self(algorithm: algorithm, try AttestationObject(decoding: bytes))
        }
        guard try members.required("keyHandle", .bytes) == keyHandle else {
            throw .member(members.path(of: "keyHandle"), problem: "not the one in the attestation object")
        }
        guard try members.required("publicKey", .bytes) == publicKey.encoded else {
            throw .member(members.path(of: "publicKey"), problem: "not the one in the attestation object")
        }
    }
}
