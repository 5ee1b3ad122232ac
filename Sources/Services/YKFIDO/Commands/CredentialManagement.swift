// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKWire

/// Lists, changes and deletes discoverable credentials (authenticatorCredentialManagement, CTAP 2.2 §6.8, and its
/// preview, command 41).
public struct CredentialManagement<Response>: CTAPCommand {
    private typealias Key = CTAPProtocol.CredentialManagement.Request

    /// The command byte, final or preview.
    public var code: CTAPCommandCode
    let subcommand: UInt64
    let subcommandName: String
    let subcommandParameters: CBOR.Map?
    let auth: PINUVAuth?
    let read: (CBOR.Fields) throws(WireError) -> Response

    /// The name in the specification, including the subcommand.
    public var name: String { "credentialManagement \(subcommandName)" }

    /// The parameters.
    public var parameters: CBOR.Map? {
        var map = CBOR.Map(keys: [Key.subCommand: .unsigned(subcommand)])
        map[Key.subCommandParams] = subcommandParameters.map(CBOR.map)
        map[Key.pinUvAuthProtocol] = auth.map { .unsigned($0.version) }
        map[Key.pinUvAuthParam] = auth.map { .bytes($0.parameter) }
        return map
    }

    /// Reads the answer.
    public func decode(_ fields: CBOR.Fields) throws(WireError) -> Response { try read(fields) }
}

private typealias Parameter = CTAPProtocol.CredentialManagement.Parameters

/// A credentialManagement subcommand before authorisation.
struct CredentialManagementRequest<Response> {
    let subcommand: UInt64
    let name: String
    var parameters: CBOR.Map?
    let read: (CBOR.Fields) throws(WireError) -> Response

    fileprivate init(
        _ subcommand: CTAPProtocol.CredentialManagement.Subcommand, parameters: CBOR.Map? = nil,
        read: @escaping (CBOR.Fields) throws(WireError) -> Response
    ) {
        self.subcommand = subcommand.rawValue
        name = subcommand.name
        self.parameters = parameters
        self.read = read
    }

    /// Whether it changes nothing.
    var onlyReads: Bool { subcommand < CTAPProtocol.CredentialManagement.Subcommand.deleteCredential.rawValue }

    /// The bytes that pinUvAuthParam authenticates: the subcommand, then its parameters (CTAP 2.2 §6.8.2).
    var authenticated: [UInt8] {
        [UInt8(truncatingIfNeeded: subcommand)] + (parameters.map { CBOR.map($0).encoded } ?? [])
    }

    func command(_ code: CTAPCommandCode, _ auth: PINUVAuth?) -> CredentialManagement<Response> {
        CredentialManagement(
            code: code, subcommand: subcommand, subcommandName: name, subcommandParameters: parameters, auth: auth,
            read: read)
    }
}

extension CredentialManagementRequest where Response == CredentialStorage {
    /// Reads the number of stored credentials and the remaining capacity (subcommand 1).
    static var metadata: Self {
        Self(.getCredsMetadata, read: CredentialStorage.init)
    }
}

extension CredentialManagementRequest where Response == StoredRelyingParty {
    /// The first relying party (subcommand 2).
    static var firstRelyingParty: Self {
        Self(.enumerateRPsBegin, read: StoredRelyingParty.init)
    }
    /// The next relying party (subcommand 3).
    static var nextRelyingParty: Self {
        Self(.enumerateRPsGetNextRP, read: StoredRelyingParty.init)
    }
}

extension CredentialManagementRequest where Response == StoredCredential {
    /// The first credential of a relying party (subcommand 4).
    static func firstCredential(rpIDHash: [UInt8]) -> Self {
        Self(
            .enumerateCredentialsBegin, parameters: CBOR.Map(keys: [Parameter.rpIDHash: .bytes(rpIDHash)]),
            read: StoredCredential.init)
    }
    /// The next credential (subcommand 5).
    static var nextCredential: Self {
        Self(.enumerateCredentialsGetNextCredential, read: StoredCredential.init)
    }
}

extension CredentialManagementRequest where Response == Void {
    /// Deletes a credential (subcommand 6).
    static func delete(_ credential: CredentialDescriptor) -> Self {
        Self(.deleteCredential, parameters: CBOR.Map(keys: [Parameter.credentialID: credential.cbor])) { _ in }
    }
    /// Changes the names of the credential's account (subcommand 7).
    static func update(_ credential: CredentialDescriptor, user: FIDOUser) -> Self {
        Self(
            .updateUserInformation,
            parameters: CBOR.Map(keys: [Parameter.credentialID: credential.cbor, Parameter.user: user.cbor])
        ) { _ in }
    }
}
