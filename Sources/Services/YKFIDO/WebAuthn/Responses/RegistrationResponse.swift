// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// What a client answers when a credential was made (WebAuthn Level 3 §5.1, §5.2.1).
public struct RegistrationResponse: Hashable, Sendable {
    /// The credential's identifier.
    public let id: [UInt8]
    /// The client data in UTF-8; `nil` when only their hash was known.
    public let clientDataJSON: [UInt8]?
    /// The attestation object as bytes.
    public let attestationObjectBytes: [UInt8]
    /// The attestation object.
    public let attestationObject: AttestationObject
    /// How the key can be reached.
    public let transports: [AuthenticatorTransport]
    /// Whether the key is part of the machine.
    public let attachment: AuthenticatorAttachment?
    /// What extensions answered, by their identifiers.
    public let clientExtensionResults: JSON.Object
    /// Whether the key remembers the credential, as it was asked for; `nil` for an answer that was read: the relying
    /// party is told only by the extension credProps.
    public let isResident: Bool?
    /// Whether the attestation is one that names the key itself (epAtt, CTAP 2.2 §6.1.2); `nil` for an answer that was
    /// read.
    public let isEnterpriseAttestation: Bool?

    /// Creates an answer.
    public init(
        clientDataJSON: [UInt8]?, attestationObject: AttestationObject, transports: [AuthenticatorTransport],
        attachment: AuthenticatorAttachment?, clientExtensionResults: JSON.Object = JSON.Object(),
        isResident: Bool? = nil, isEnterpriseAttestation: Bool? = nil
    ) {
        id = attestationObject.authenticatorData.credential?.id ?? []
        self.clientDataJSON = clientDataJSON
        attestationObjectBytes = attestationObject.encoded
        self.attestationObject = attestationObject
        self.transports = transports
        self.attachment = attachment
        self.clientExtensionResults = clientExtensionResults
        self.isResident = isResident
        self.isEnterpriseAttestation = isEnterpriseAttestation
    }

    /// Whether both tell a relying party the same.
    public static func == (left: Self, right: Self) -> Bool { left.json == right.json }
    /// Hashes the value.
    public func hash(into hasher: inout Hasher) { hasher.combine(json) }

    /// The credential's public key.
    public var publicKey: COSEKey? { attestationObject.authenticatorData.credential?.publicKey }
}
