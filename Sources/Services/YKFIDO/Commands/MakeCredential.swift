// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKWire

/// Creates a credential (authenticatorMakeCredential, CTAP 2.2 §6.1).
public struct MakeCredential: CTAPCommand, Sendable, Hashable {
    /// SHA-256 of the client data.
    public var clientDataHash: [UInt8]
    /// The relying party.
    public var relyingParty: RelyingParty
    /// The user account.
    public var user: FIDOUser
    /// The acceptable credential types and algorithms, most preferred first.
    public var parametersList: [CredentialParameters]
    /// Credentials that the key must not already have.
    public var excludeList: [CredentialDescriptor] = []
    /// Extension inputs by identifier.
    public var extensions = CBOR.Map()
    /// Whether the credential is discoverable; `nil` lets the key decide.
    public var isResident: Bool?
    /// Whether the key uses built-in user verification; for CTAP 2.0 keys.
    public var verifiesUser: Bool?
    /// The proof that the user was verified.
    public var auth: PINUVAuth?
    /// Enterprise attestation: 1 facilitated by the vendor, 2 managed by the platform.
    public var enterpriseAttestation: UInt64?
    /// Attestation formats, most preferred first.
    public var attestationFormats: [AttestationFormat] = []

    /// Creates a command.
    public init(
        clientDataHash: [UInt8], relyingParty: RelyingParty, user: FIDOUser,
        algorithms: [COSEAlgorithm] = [.es256, .edDSA, .rs256]
    ) {
        self.clientDataHash = clientDataHash
        self.relyingParty = relyingParty
        self.user = user
        parametersList = algorithms.map { CredentialParameters($0) }
    }

    /// The key's response.
    public struct Response: Sendable, Hashable {
        /// The attestation statement's format.
        public let format: AttestationFormat
        /// The authenticator data.
        public let authenticatorData: AuthenticatorData
        /// The attestation statement.
        public let statement: CBOR.Map
        /// Whether this is an enterprise attestation, which may identify the individual key.
        public let isEnterpriseAttestation: Bool
        /// The credential's large-blob key, 32 bytes, if requested.
        public let largeBlobKey: [UInt8]?
        /// Unsigned extension outputs.
        public let unsignedExtensions: CBOR.Map?

        /// The response as an attestation object for a relying party.
        public var attestationObject: AttestationObject {
            AttestationObject(format: format, authenticatorData: authenticatorData, statement: statement)
        }
    }

    private typealias Key = CTAPProtocol.MakeCredential.Request
    private typealias Reply = CTAPProtocol.MakeCredential.Reply

    /// The command byte.
    public var code: CTAPCommandCode { .makeCredential }
    /// The name in the specification.
    public var name: String { "makeCredential" }

    /// The parameters.
    public var parameters: CBOR.Map? {
        var map = CBOR.Map(keys: [
            Key.clientDataHash: .bytes(clientDataHash), Key.rp: relyingParty.cbor, Key.user: user.cbor,
            Key.pubKeyCredParams: .array(parametersList.map(\.cbor)),
        ])
        if !excludeList.isEmpty { map[Key.excludeList] = .array(excludeList.map(\.cbor)) }
        if !extensions.isEmpty { map[Key.extensions] = .map(extensions) }
        map[Key.options] = CBOR.options([("rk", isResident), ("uv", verifiesUser)])
        map.set(auth, at: Key.pinUvAuthParam, Key.pinUvAuthProtocol)
        map[Key.enterpriseAttestation] = enterpriseAttestation.map(CBOR.unsigned)
        if !attestationFormats.isEmpty {
            map[Key.attestationFormatsPreference] = .array(attestationFormats.map { .text($0.rawValue) })
        }
        return map
    }

    /// Reads the response; one without a new credential is malformed.
    public func decode(_ fields: CBOR.Fields) throws(WireError) -> Response {
        let data = try fields.required(Reply.authData, .bytes)
        let authenticatorData = try AuthenticatorData(decoding: data)
        guard authenticatorData.credential != nil else {
            throw WireError(
                .missing, at: fields.place(of: 2)?.lowerBound ?? 0, "the authenticator data has no credential")
        }
        return Response(
            format: AttestationFormat(rawValue: try fields.required(Reply.fmt, .text)),
            authenticatorData: authenticatorData,
            statement: try fields.optional(Reply.attStmt, .map) ?? CBOR.Map(),
            isEnterpriseAttestation: try fields.optional(Reply.epAtt, .bool) ?? false,
            largeBlobKey: try fields.optional(Reply.largeBlobKey, .bytes),
            unsignedExtensions: try fields.optional(Reply.unsignedExtensionOutputs, .map))
    }
}

extension CBOR {
    /// A map of options; `nil` if none is set.
    static func options(_ options: [(name: String, value: Bool?)]) -> CBOR? {
        var map = Map()
        for option in options { map[.text(option.name)] = option.value.map(CBOR.bool) }
        return map.isEmpty ? nil : .map(map)
    }
}

extension CBOR.Map {
    /// Sets pinUvAuthParam and the number of its protocol.
    mutating func set<Key: CTAPKey>(_ auth: PINUVAuth?, at parameter: Key, _ version: Key) {
        self[parameter] = auth.map { .bytes($0.parameter) }
        self[version] = auth.map { .unsigned($0.version) }
    }
}
