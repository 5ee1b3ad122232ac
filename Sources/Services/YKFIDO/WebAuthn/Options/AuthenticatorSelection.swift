// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Requirements for the key (WebAuthn Level 3 §5.4.4).
public struct AuthenticatorSelection: Hashable, Sendable {
    /// Whether it is built into the computer; `nil` for either.
    public var attachment: AuthenticatorAttachment?
    /// Whether the credential must be discoverable.
    public var residentKey: ResidentKeyRequirement
    /// Whether the user must be verified.
    public var userVerification: UserVerification

    /// Creates a selection, by default without requirements.
    public init(
        attachment: AuthenticatorAttachment? = nil, residentKey: ResidentKeyRequirement = .discouraged,
        userVerification: UserVerification = .preferred
    ) {
        self.attachment = attachment
        self.residentKey = residentKey
        self.userVerification = userVerification
    }
}

extension AuthenticatorSelection {
    /// Treats unknown values as absent; without `residentKey`, the older `requireResidentKey` is used.
    init(_ members: JSONMembers) throws(WebAuthnError) {
        attachment = try members.optional("authenticatorAttachment", .string).map(
            AuthenticatorAttachment.init(rawValue:))
        let isRequired = try members.optional("requireResidentKey", .bool) ?? false
        residentKey =
            try members.optional("residentKey", .string).flatMap(ResidentKeyRequirement.init(rawValue:))
            ?? (isRequired ? .required : .discouraged)
        userVerification = try UserVerification(members)
    }

    var json: JSONValue {
        .object(
            JSONValue.Object([
                ("authenticatorAttachment", attachment.map { .string($0.rawValue) }),
                ("residentKey", .string(residentKey.rawValue)),
                ("requireResidentKey", .bool(residentKey == .required)),
                ("userVerification", .string(userVerification.rawValue)),
            ]))
    }
}

extension UserVerification {
    /// The member `userVerification`; preferred if absent or unknown.
    init(_ members: JSONMembers) throws(WebAuthnError) {
        self = try members.optional("userVerification", .string).flatMap(Self.init(rawValue:)) ?? .preferred
    }
}

/// Whether a key is built into the computer (WebAuthn Level 3 §5.4.5).
public struct AuthenticatorAttachment: OpenSet {
    /// The name.
    public let rawValue: String
    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Built into the computer.
    public static let platform = AuthenticatorAttachment(rawValue: "platform")
    /// Removable, for use with several computers.
    public static let crossPlatform = AuthenticatorAttachment(rawValue: "cross-platform")
}

/// Whether the credential must be discoverable (WebAuthn Level 3 §5.4.6).
public enum ResidentKeyRequirement: String, Hashable, Sendable, CaseIterable {
    /// Discoverable, or the operation fails.
    case required
    /// Discoverable if the key supports it.
    case preferred
    /// Not discoverable.
    case discouraged
}

/// The attestation that the relying party requests (WebAuthn Level 3 §5.4.7).
public enum AttestationConveyance: String, Hashable, Sendable, CaseIterable {
    /// None: the attestation is removed.
    case none
    /// A verifiable attestation in any form.
    case indirect
    /// The key's attestation.
    case direct
    /// The key's attestation, which may identify the individual key.
    case enterprise
}

/// A transport of a key (WebAuthn Level 3 §5.8.4).
public struct AuthenticatorTransport: OpenSet {
    /// The name.
    public let rawValue: String
    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// USB.
    public static let usb = AuthenticatorTransport(rawValue: "usb")
    /// Near-field communication.
    public static let nfc = AuthenticatorTransport(rawValue: "nfc")
    /// Bluetooth Low Energy.
    public static let ble = AuthenticatorTransport(rawValue: "ble")
    /// ISO 7816 smart card with contacts.
    public static let smartCard = AuthenticatorTransport(rawValue: "smart-card")
    /// A phone near this computer.
    public static let hybrid = AuthenticatorTransport(rawValue: "hybrid")
    /// Built into the computer.
    public static let `internal` = AuthenticatorTransport(rawValue: "internal")
}

/// What the relying party expects the user to use (WebAuthn Level 3 §5.8.7).
public struct PublicKeyCredentialHint: OpenSet {
    /// The name.
    public let rawValue: String
    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A security key.
    public static let securityKey = PublicKeyCredentialHint(rawValue: "security-key")
    /// An authenticator built into the computer.
    public static let clientDevice = PublicKeyCredentialHint(rawValue: "client-device")
    /// A phone.
    public static let hybrid = PublicKeyCredentialHint(rawValue: "hybrid")
}

/// A reference to a credential in options (WebAuthn Level 3 §5.8.3).
public struct PublicKeyCredentialDescriptor: Hashable, Sendable {
    /// The credential's identifier.
    public var id: [UInt8]
    /// Its type, `public-key`; others are ignored.
    public var type: String
    /// Hints for the transports of its key.
    public var transports: [AuthenticatorTransport]

    /// Creates a descriptor.
    public init(
        id: [UInt8], type: String = CredentialDescriptor.publicKey, transports: [AuthenticatorTransport] = []
    ) {
        self.id = id
        self.type = type
        self.transports = transports
    }
}

extension PublicKeyCredentialDescriptor {
    init(_ members: JSONMembers) throws(WebAuthnError) {
        id = try members.required("id", .bytes)
        type = try members.required("type", .string)
        transports = try members.list("transports", of: .string)?.map(AuthenticatorTransport.init(rawValue:)) ?? []
    }

    var json: JSONValue {
        .object(
            JSONValue.Object([
                ("type", .string(type)), ("id", .bytes(id)),
                ("transports", transports.isEmpty ? nil : .array(transports.map { .string($0.rawValue) })),
            ]))
    }
}

extension [PublicKeyCredentialDescriptor] {
    /// The public-key credentials in the form for the key; those with one of these transports first.
    func descriptors(preferring transports: [AuthenticatorTransport]) -> [CredentialDescriptor] {
        let known = filter { $0.type == CredentialDescriptor.publicKey }
        let near = known.filter { !Set($0.transports).isDisjoint(with: transports) }
        let far = known.filter { Set($0.transports).isDisjoint(with: transports) }
        return (near + far).map { CredentialDescriptor(id: $0.id) }
    }
}
