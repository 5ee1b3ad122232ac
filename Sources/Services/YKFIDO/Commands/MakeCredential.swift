// SPDX-License-Identifier: Apache-2.0

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
}
