// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Lists, changes and deletes discoverable credentials (authenticatorCredentialManagement, CTAP 2.2 §6.8, and its
/// preview, command 41).
public struct CredentialManagement<Response>: CTAPCommand {
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
        var map: CBOR.Map = [1: .unsigned(subcommand)]
        map[2] = subcommandParameters.map(CBOR.map)
        map[3] = auth.map { .unsigned($0.version) }
        map[4] = auth.map { .bytes($0.parameter) }
        return map
    }

    /// Reads the answer.
    public func decode(_ fields: CBOR.Fields) throws(WireError) -> Response { try read(fields) }
}

/// A credentialManagement subcommand before authorisation.
struct CredentialManagementRequest<Response> {
    let subcommand: UInt64
    let name: String
    var parameters: CBOR.Map?
    let read: (CBOR.Fields) throws(WireError) -> Response

    /// Whether it changes nothing.
    var onlyReads: Bool { subcommand < 6 }

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
        Self(subcommand: 1, name: "getCredsMetadata", read: CredentialStorage.init)
    }
}

extension CredentialManagementRequest where Response == StoredRelyingParty {
    /// The first relying party (subcommand 2).
    static var firstRelyingParty: Self {
        Self(subcommand: 2, name: "enumerateRPsBegin", read: StoredRelyingParty.init)
    }
    /// The next relying party (subcommand 3).
    static var nextRelyingParty: Self {
        Self(subcommand: 3, name: "enumerateRPsGetNextRP", read: StoredRelyingParty.init)
    }
}

extension CredentialManagementRequest where Response == StoredCredential {
    /// The first credential of a relying party (subcommand 4).
    static func firstCredential(rpIDHash: [UInt8]) -> Self {
        Self(
            subcommand: 4, name: "enumerateCredentialsBegin", parameters: [1: .bytes(rpIDHash)],
            read: StoredCredential.init)
    }
    /// The next credential (subcommand 5).
    static var nextCredential: Self {
        Self(subcommand: 5, name: "enumerateCredentialsGetNextCredential", read: StoredCredential.init)
    }
}

extension CredentialManagementRequest where Response == Void {
    /// Deletes a credential (subcommand 6).
    static func delete(_ credential: CredentialDescriptor) -> Self {
        Self(subcommand: 6, name: "deleteCredential", parameters: [2: credential.cbor]) { _ in }
    }
    /// Changes the names of the credential's account (subcommand 7).
    static func update(_ credential: CredentialDescriptor, user: FIDOUser) -> Self {
        Self(
            subcommand: 7, name: "updateUserInformation", parameters: [2: credential.cbor, 3: user.cbor]
        ) { _ in }
    }
}
