// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Has a credential sign (authenticatorGetAssertion, CTAP 2.2 §6.2).
public struct GetAssertion: CTAPCommand, Sendable, Hashable {
    /// Who asks.
    public var rpID: String
    /// SHA-256 of the client data.
    public var clientDataHash: [UInt8]
    /// The credentials that are welcome; empty for those that the key remembers itself.
    public var allowList: [CredentialDescriptor] = []
    /// Inputs of extensions by their identifiers.
    public var extensions = CBOR.Map()
    /// Whether the key waits for a touch; `nil` means that it does.
    public var requiresPresence: Bool?
    /// Whether the key verifies the user by its own means; for keys of CTAP 2.0.
    public var verifiesUser: Bool?
    /// The proof that the user was verified.
    public var auth: PINUVAuth?

    /// Creates a command.
    public init(rpID: String, clientDataHash: [UInt8], allowList: [CredentialDescriptor] = []) {
        self.rpID = rpID
        self.clientDataHash = clientDataHash
        self.allowList = allowList
    }

    /// What a key answers.
    public struct Response: Sendable, Hashable {
        /// Which credential signed; some keys leave it out when only one was allowed.
        public let credential: CredentialDescriptor?
        /// What the key says of the credential's use.
        public let authenticatorData: AuthenticatorData
        /// The signature over authenticator data and client data hash.
        public let signature: [UInt8]
        /// The account, for a credential that the key remembers.
        public let user: FIDOUser?
        /// How many credentials can sign; only in the first answer.
        public let numberOfCredentials: UInt64?
        /// Whether the user chose this credential on the key itself.
        public let isUserSelected: Bool
        /// The key for the credential's large blob, 32 bytes, where that was asked for.
        public let largeBlobKey: [UInt8]?
        /// What extensions answered outside what is signed.
        public let unsignedExtensions: CBOR.Map?
    }
}

/// Has the next credential sign (authenticatorGetNextAssertion, CTAP 2.2 §6.3).
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
