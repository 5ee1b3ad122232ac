// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Makes a new credential (authenticatorMakeCredential, CTAP 2.2 §6.1).
public struct MakeCredential: CTAPCommand, Sendable, Hashable {
    /// SHA-256 of the client data.
    public var clientDataHash: [UInt8]
    /// Who the credential is for.
    public var relyingParty: RelyingParty
    /// The account it is for.
    public var user: FIDOUser
    /// The kinds of credential that are welcome, the best first.
    public var parametersList: [CredentialParameters]
    /// Credentials that the key must not have already.
    public var excludeList: [CredentialDescriptor] = []
    /// Inputs of extensions by their identifiers.
    public var extensions = CBOR.Map()
    /// Whether the key remembers the credential itself; `nil` leaves it to the key.
    public var isResident: Bool?
    /// Whether the key verifies the user by its own means; for keys of CTAP 2.0.
    public var verifiesUser: Bool?
    /// The proof that the user was verified.
    public var auth: PINUVAuth?
    /// Enterprise attestation: 1 facilitated by the vendor, 2 managed by the platform.
    public var enterpriseAttestation: UInt64?
    /// Attestation formats, the preferred first.
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

    /// What a key answers.
    public struct Response: Sendable, Hashable {
        /// How the attestation statement is made.
        public let format: AttestationFormat
        /// What the key says of the credential.
        public let authenticatorData: AuthenticatorData
        /// What vouches for it.
        public let statement: CBOR.Map
        /// Whether the attestation is an enterprise's, which can name the single key.
        public let isEnterpriseAttestation: Bool
        /// The key for the credential's large blob, 32 bytes, where that was asked for.
        public let largeBlobKey: [UInt8]?
        /// What extensions answered outside what is signed.
        public let unsignedExtensions: CBOR.Map?

        /// The answer as an object for a relying party.
        public var attestationObject: AttestationObject {
            AttestationObject(format: format, authenticatorData: authenticatorData, statement: statement)
        }
    }
}
