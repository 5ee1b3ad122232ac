// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKWire

/// Requests an assertion (authenticatorGetAssertion, CTAP 2.2 §6.2).
public struct GetAssertion: CTAPCommand, Sendable, Hashable {
    /// The relying party's identifier.
    public var rpID: String
    /// SHA-256 of the client data.
    public var clientDataHash: [UInt8]
    /// The allowed credentials; empty for discoverable credentials.
    public var allowList: [CredentialDescriptor] = []
    /// Extension inputs by identifier.
    public var extensions = CBOR.Map()
    /// Whether a touch is required; `nil` means that it is.
    public var requiresPresence: Bool?
    /// Whether the key uses built-in user verification; for CTAP 2.0 keys.
    public var verifiesUser: Bool?
    /// The proof that the user was verified.
    public var auth: PINUVAuth?

    /// Creates a command.
    public init(rpID: String, clientDataHash: [UInt8], allowList: [CredentialDescriptor] = []) {
        self.rpID = rpID
        self.clientDataHash = clientDataHash
        self.allowList = allowList
    }

    /// The key's response.
    public struct Response: Sendable, Hashable {
        /// The credential that signed; some keys omit it if only one was allowed.
        public let credential: CredentialDescriptor?
        /// The authenticator data.
        public let authenticatorData: AuthenticatorData
        /// The signature over authenticator data and client data hash.
        public let signature: [UInt8]
        /// The account, for a discoverable credential.
        public let user: FIDOUser?
        /// The number of credentials that can sign; only in the first response.
        public let numberOfCredentials: UInt64?
        /// Whether the user selected this credential on the key.
        public let isUserSelected: Bool
        /// The credential's large-blob key, 32 bytes, if requested.
        public let largeBlobKey: [UInt8]?
        /// Unsigned extension outputs.
        public let unsignedExtensions: CBOR.Map?
    }
}

/// Requests the next credential's assertion (authenticatorGetNextAssertion, CTAP 2.2 §6.3).
public struct GetNextAssertion: CTAPCommand, Sendable, Hashable {
    /// Creates a command.
    public init() {}
    /// The command byte.
    public var code: CTAPCommandCode { .getNextAssertion }
    /// The name in the specification.
    public var name: String { "getNextAssertion" }
    /// No parameters.
    public var parameters: CBOR.Map? { nil }
    /// Reads the answer.
    public func decode(_ fields: CBOR.Fields) throws(WireError) -> GetAssertion.Response {
        try GetAssertion.Response(fields)
    }
}

extension GetAssertion {
    private typealias Key = CTAPProtocol.GetAssertion.Request

    /// The command byte.
    public var code: CTAPCommandCode { .getAssertion }
    /// The name in the specification.
    public var name: String { "getAssertion" }

    /// The parameters.
    public var parameters: CBOR.Map? {
        var map = CBOR.Map(keys: [Key.rpId: .text(rpID), Key.clientDataHash: .bytes(clientDataHash)])
        if !allowList.isEmpty { map[Key.allowList] = .array(allowList.map(\.cbor)) }
        if !extensions.isEmpty { map[Key.extensions] = .map(extensions) }
        map[Key.options] = CBOR.options([("up", requiresPresence), ("uv", verifiesUser)])
        map.set(auth, at: Key.pinUvAuthParam, Key.pinUvAuthProtocol)
        return map
    }

    /// Reads the answer.
    public func decode(_ fields: CBOR.Fields) throws(WireError) -> Response { try Response(fields) }
}

extension GetAssertion.Response {
    private typealias Key = CTAPProtocol.GetAssertion.Reply

    init(_ fields: CBOR.Fields) throws(WireError) {
        credential =
            if let inner = try fields.optionalFields(Key.credential) { try CredentialDescriptor(inner) } else { nil }
        authenticatorData = try AuthenticatorData(decoding: try fields.required(Key.authData, .bytes))
        signature = try fields.required(Key.signature, .bytes)
        user = if let inner = try fields.optionalFields(Key.user) { try FIDOUser(inner) } else { nil }
        numberOfCredentials = try fields.optional(Key.numberOfCredentials, .unsigned)
        isUserSelected = try fields.optional(Key.userSelected, .bool) ?? false
        largeBlobKey = try fields.optional(Key.largeBlobKey, .bytes)
        unsignedExtensions = try fields.optional(Key.unsignedExtensionOutputs, .map)
    }
}
