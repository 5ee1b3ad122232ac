// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// What a key gave for a PIN or a built-in user verification (pinUvAuthToken, CTAP 2.2 §6.5.5.7): good for some
/// permissions, one relying party, and until the key loses power or lets it expire. One that only lists credentials
/// (pcmr) lasts until the PIN changes.
public struct FIDOToken: Sendable {
    /// The bytes of the token. Who has them can do what it permits: they are kept as a PIN is.
    public let secret: SharedSecret
    /// The protocol it proves knowledge with.
    public let version: PINProtocol
    /// What it permits; `nil` for a token of CTAP 2.0, which permits everything the key has.
    public let permissions: ClientPIN.Permissions?
    /// The relying party it is bound to.
    public let rpID: String?
    /// The channel, or selection of the application, that it was given on; `nil` for one that outlasts these.
    let generation: Int?

    /// A token that was kept elsewhere, to be used again; `nil` when the protocol has none of this length.
    public init?(
        _ secret: SharedSecret, version: PINProtocol, permissions: ClientPIN.Permissions?, rpID: String? = nil
    ) {
        guard version.accepts(tokenOf: secret.value.count) else { return nil }
        self.init(secret: secret, version: version, permissions: permissions, rpID: rpID, generation: nil)
    }

    init(
        secret: SharedSecret, version: PINProtocol, permissions: ClientPIN.Permissions?, rpID: String?,
        generation: Int?
    ) {
        self.secret = secret
        self.version = version
        self.permissions = permissions
        self.rpID = rpID
        self.generation = permissions == .persistentCredentialManagementReadOnly ? nil : generation
    }

    /// Whether it lasts over a loss of power, and only lists credentials.
    var isPersistent: Bool { permissions == .persistentCredentialManagementReadOnly }

    /// Proves knowledge of the token over a message.
    func auth(over message: [UInt8]) -> PINUVAuth {
        PINUVAuth(parameter: version.authenticate(message, key: secret.value), version: version.rawValue)
    }

    /// Whether it can be used for this.
    func covers(_ wanted: ClientPIN.Permissions, rpID: String?, generation: Int) -> Bool {
        guard generation == self.generation ?? generation else { return false }
        guard let permissions else { return true }
        let isFree = wanted == .largeBlobWrite
        return permissions.isSuperset(of: wanted) && (self.rpID == rpID || isFree)
    }

    /// The token with less permissions: what is left after a use.
    func restricted(to permissions: ClientPIN.Permissions) -> FIDOToken {
        FIDOToken(
            secret: secret, version: version, permissions: permissions, rpID: rpID, generation: generation)
    }
}
