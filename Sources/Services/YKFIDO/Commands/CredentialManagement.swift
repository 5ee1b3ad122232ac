// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKWire

/// Lists, changes and deletes discoverable credentials (authenticatorCredentialManagement, CTAP 2.2 §6.8, and its
/// preview, command 41).
public struct CredentialManagement<Response>: CTAPCommand {
    private typealias Key = CTAPProtocol.CredentialManagement.Request

    /// The command byte, final or preview.
    public var code: CTAPCommandCode
    let request: CredentialManagementRequest<Response>
    let auth: PINUVAuth?

    /// The name in the specification, including the subcommand.
    public var name: String { "credentialManagement \(request.subcommand.name)" }

    /// The parameters.
    public var parameters: CBOR.Map? {
        var map = CBOR.Map(keys: [Key.subCommand: request.subcommand.cbor])
        map[Key.subCommandParams] = request.parameters.map(CBOR.map)
        map.set(auth, at: Key.pinUvAuthParam, Key.pinUvAuthProtocol)
        return map
    }

    /// Reads the answer.
    public func decode(_ fields: CBOR.Fields) throws(WireError) -> Response { try request.read(fields) }
}

private typealias Parameter = CTAPProtocol.CredentialManagement.Parameters

/// A credentialManagement subcommand before authorization.
struct CredentialManagementRequest<Response> {
    let subcommand: CTAPProtocol.CredentialManagement.Subcommand
    var parameters: CBOR.Map?
    let read: (CBOR.Fields) throws(WireError) -> Response

    /// Whether it changes nothing.
    var onlyReads: Bool { subcommand != .deleteCredential && subcommand != .updateUserInformation }

    /// The bytes that pinUvAuthParam authenticates: the subcommand, then its parameters (CTAP 2.2 §6.8.2).
    var authenticated: [UInt8] {
        [UInt8(truncatingIfNeeded: subcommand.rawValue)] + (parameters.map { CBOR.map($0).encoded } ?? [])
    }

    func command(_ code: CTAPCommandCode, _ auth: PINUVAuth?) -> CredentialManagement<Response> {
        CredentialManagement(code: code, request: self, auth: auth)
    }
}

extension CredentialManagementRequest where Response == CredentialStorage {
    /// Reads the number of stored credentials and the remaining capacity (subcommand 1).
    static var metadata: Self {
        Self(subcommand: .getCredsMetadata, read: CredentialStorage.init)
    }
}

extension CredentialManagementRequest where Response == StoredRelyingParty {
    /// The first relying party (subcommand 2).
    static var firstRelyingParty: Self {
        Self(subcommand: .enumerateRPsBegin, read: StoredRelyingParty.init)
    }
    /// The next relying party (subcommand 3).
    static var nextRelyingParty: Self {
        Self(subcommand: .enumerateRPsGetNextRP, read: StoredRelyingParty.init)
    }
}

extension CredentialManagementRequest where Response == StoredCredential {
    /// The first credential of a relying party (subcommand 4).
    static func firstCredential(rpIDHash: [UInt8]) -> Self {
        Self(
            subcommand: .enumerateCredentialsBegin, parameters: CBOR.Map(keys: [Parameter.rpIDHash: .bytes(rpIDHash)]),
            read: StoredCredential.init)
    }
    /// The next credential (subcommand 5).
    static var nextCredential: Self {
        Self(subcommand: .enumerateCredentialsGetNextCredential, read: StoredCredential.init)
    }
}

extension CredentialManagementRequest where Response == Void {
    /// Deletes a credential (subcommand 6).
    static func delete(_ credential: CredentialDescriptor) -> Self {
        Self(
            subcommand: .deleteCredential, parameters: CBOR.Map(keys: [Parameter.credentialID: credential.cbor])
        ) { _ in }
    }
    /// Changes the names of the credential's account (subcommand 7).
    static func update(_ credential: CredentialDescriptor, user: FIDOUser) -> Self {
        Self(
            subcommand: .updateUserInformation,
            parameters: CBOR.Map(keys: [Parameter.credentialID: credential.cbor, Parameter.user: user.cbor])
        ) { _ in }
    }
}
