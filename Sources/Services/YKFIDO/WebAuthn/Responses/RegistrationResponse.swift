// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A client's response with a new credential (WebAuthn Level 3 §5.1, §5.2.1).
public struct RegistrationResponse: Hashable, Sendable {
    /// The credential's identifier.
    public let id: [UInt8]
    /// The client data in UTF-8; `nil` if only its hash was known.
    public let clientDataJSON: [UInt8]?
    /// The attestation object as bytes.
    public let attestationObjectBytes: [UInt8]
    /// The attestation object.
    public let attestationObject: AttestationObject
    /// The key's transports.
    public let transports: [AuthenticatorTransport]
    /// Whether the key is built into the computer.
    public let attachment: AuthenticatorAttachment?
    /// Extension results by identifier.
    public let clientExtensionResults: JSONValue.Object
    /// Whether the credential is discoverable, as requested; `nil` for a parsed response: the relying party only learns
    /// it from the extension credProps.
    public let isResident: Bool?
    /// Whether the attestation identifies the individual key (epAtt, CTAP 2.2 §6.1.2); `nil` for a parsed response.
    public let isEnterpriseAttestation: Bool?

    /// Creates a response.
    public init(
        clientDataJSON: [UInt8]?, attestationObject: AttestationObject, transports: [AuthenticatorTransport],
        attachment: AuthenticatorAttachment?, clientExtensionResults: JSONValue.Object = JSONValue.Object(),
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

    /// Whether both responses are equal for a relying party.
    public static func == (left: Self, right: Self) -> Bool { left.json == right.json }
    /// Hashes the value.
    public func hash(into hasher: inout Hasher) { hasher.combine(json) }

    /// The credential's public key.
    public var publicKey: COSEKey? { attestationObject.authenticatorData.credential?.publicKey }
}
