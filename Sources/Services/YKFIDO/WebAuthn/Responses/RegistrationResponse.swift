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

extension COSEKey {
    /// The key as SubjectPublicKeyInfo (RFC 5280 §4.1.2.7), DER; `nil` for key types that are not supported.
    public var subjectPublicKeyInfo: [UInt8]? {
        switch material {
        case .ec2(.p256, let x, let y): Self.elliptic([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07], x, y)
        case .ec2(.p384, let x, let y): Self.elliptic([0x2B, 0x81, 0x04, 0x00, 0x22], x, y)
        case .ec2(.p521, let x, let y): Self.elliptic([0x2B, 0x81, 0x04, 0x00, 0x23], x, y)
        case .ec2(.secp256k1, let x, let y): Self.elliptic([0x2B, 0x81, 0x04, 0x00, 0x0A], x, y)
        case .okp(.ed25519, let x): Self.info([Self.object([0x2B, 0x65, 0x70])], x)
        case .okp(.ed448, let x): Self.info([Self.object([0x2B, 0x65, 0x71])], x)
        case .rsa(let modulus, let exponent):
            Self.info(
                [Self.object([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]), [0x05, 0x00]],
                Self.element(0x30, Self.integer(modulus) + Self.integer(exponent)))
        default: nil
        }
    }

    private static func elliptic(_ curve: [UInt8], _ x: [UInt8], _ y: [UInt8]) -> [UInt8] {
        info([object([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]), object(curve)], [0x04] + x + y)
    }

    private static func info(_ algorithm: [[UInt8]], _ key: [UInt8]) -> [UInt8] {
        element(0x30, element(0x30, algorithm.flatMap { $0 }) + element(0x03, [0x00] + key))
    }

    private static func object(_ identifier: [UInt8]) -> [UInt8] { element(0x06, identifier) }

    /// A non-negative number, in the fewest bytes.
    private static func integer(_ magnitude: [UInt8]) -> [UInt8] {
        let bytes = Array(magnitude.drop { $0 == 0 })
        return element(0x02, (bytes.first ?? 0x80) & 0x80 == 0 ? bytes : [0x00] + bytes)
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: content.count + 4)
        writer.byte(tag)
        switch content.count {
        case ..<0x80: writer.bigEndian(UInt64(content.count), 1)
        case ..<0x100: writer.append([0x81, UInt8(truncatingIfNeeded: content.count)])
        default:
            writer.byte(0x82)
            writer.bigEndian(UInt64(content.count), 2)
        }
        writer.append(content)
        return writer.bytes
    }
}
