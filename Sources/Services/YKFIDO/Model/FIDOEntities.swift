// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A relying party (WebAuthn Level 3 §5.4.2).
public struct RelyingParty: Hashable, Sendable {
    /// Its identifier, a domain name.
    public var id: String
    /// Its display name.
    public var name: String?

    /// Creates a relying party.
    public init(id: String, name: String? = nil) {
        self.id = id
        self.name = name
    }

    var cbor: CBOR {
        var map: CBOR.Map = ["id": .text(id)]
        map["name"] = name.map(CBOR.text)
        return .map(map)
    }

    /// Some keys omit the identifier, which is then empty.
    init(_ fields: CBOR.Fields) throws(WireError) {
        id = try fields.optional("id", .text) ?? ""
        name = try fields.optional("name", .text)
    }
}

/// The user account of a credential (WebAuthn Level 3 §5.4.3).
public struct FIDOUser: Hashable, Sendable {
    /// The account's identifier, 1 to 64 bytes.
    public var id: [UInt8]
    /// The account's name.
    public var name: String?
    /// The account's display name.
    public var displayName: String?

    /// Creates an account.
    public init(id: [UInt8], name: String? = nil, displayName: String? = nil) {
        self.id = id
        self.name = name
        self.displayName = displayName
    }

    var cbor: CBOR {
        var map: CBOR.Map = ["id": .bytes(id)]
        map["name"] = name.map(CBOR.text)
        map["displayName"] = displayName.map(CBOR.text)
        return .map(map)
    }

    /// Treats an empty name as absent; CanoKey 3.0 sends one if none was given.
    init(_ fields: CBOR.Fields) throws(WireError) {
        id = try fields.required("id", .bytes)
        name = try fields.optional("name", .text).flatMap { $0.isEmpty ? nil : $0 }
        displayName = try fields.optional("displayName", .text).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The account with names short enough for every key.
    var withShortNames: FIDOUser {
        FIDOUser(id: id, name: name?.shortName, displayName: displayName?.shortName)
    }
}

extension String {
    /// The name truncated to 64 bytes, which every key accepts: some keys refuse longer names, others cut them off
    /// inside a character (WebAuthn Level 3 §6.4.1).
    var shortName: String {
        var bytes = 0
        return String(
            prefix { character in
                bytes += character.utf8.count
                return bytes <= 64
            })
    }
}

/// A reference to a credential (WebAuthn Level 3 §5.8.3). Transports are never sent to a key: some refuse them.
public struct CredentialDescriptor: Hashable, Sendable {
    /// The credential's identifier.
    public var id: [UInt8]
    /// Its type, `public-key`.
    public var type: String

    /// Creates a descriptor.
    public init(id: [UInt8], type: String = CredentialDescriptor.publicKey) {
        self.id = id
        self.type = type
    }

    /// The only defined type.
    public static let publicKey = "public-key"

    var cbor: CBOR { ["id": .bytes(id), "type": .text(type)] }

    init(_ fields: CBOR.Fields) throws(WireError) {
        id = try fields.required("id", .bytes)
        type = try fields.optional("type", .text) ?? Self.publicKey
    }
}

/// An acceptable kind of credential: `public-key` with an algorithm (WebAuthn Level 3 §5.3).
public struct CredentialParameters: Hashable, Sendable {
    /// The algorithm.
    public var algorithm: COSEAlgorithm
    /// The type, `public-key`.
    public var type: String

    /// Creates credential parameters.
    public init(_ algorithm: COSEAlgorithm, type: String = CredentialDescriptor.publicKey) {
        self.algorithm = algorithm
        self.type = type
    }

    var cbor: CBOR { ["alg": .int(algorithm.rawValue), "type": .text(type)] }
}

/// A proof of user verification as commands carry it: pinUvAuthParam and its protocol.
public struct PINUVAuth: Hashable, Sendable {
    /// The bytes of pinUvAuthParam.
    public let parameter: [UInt8]
    /// The number of the protocol.
    public let version: UInt64

    /// Creates a proof.
    public init(parameter: [UInt8], version: UInt64) {
        self.parameter = parameter
        self.version = version
    }
}

extension RelyingParty: CustomStringConvertible {
    /// The identifier.
    public var description: String { id }
}

extension FIDOUser: CustomStringConvertible {
    /// The name, otherwise the display name or the identifier in base64url.
    public var description: String { name ?? displayName ?? Base64.encodeURL(id) }
}

extension CredentialDescriptor: CustomStringConvertible {
    /// The identifier in base64url.
    public var description: String { Base64.encodeURL(id) }
}
