// SPDX-License-Identifier: Apache-2.0

import YKWire

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
