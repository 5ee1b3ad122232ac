// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// A token issued for a PIN or built-in user verification (pinUvAuthToken, CTAP 2.2 §6.5.5.7): valid for some
/// permissions and one relying party, until the key loses power or the token expires. A token that only permits listing
/// credentials (pcmr) is valid until the PIN changes.
public struct FIDOToken: Sendable {
    /// The token. Anyone who has it can use its permissions, so store it as carefully as a PIN.
    public let secret: SharedSecret
    /// The protocol it is used with.
    public let version: PINProtocol
    /// Its permissions; `nil` for a CTAP 2.0 token, which permits everything the key supports.
    public let permissions: ClientPIN.Permissions?
    /// The relying party it is bound to.
    public let rpID: String?
    /// The channel or application selection that it was issued on; `nil` for a token that outlasts these.
    let generation: Int?

    /// Restores a stored token; `nil` if the protocol has no tokens of this length.
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

    /// Whether it survives a power cycle, and only permits listing credentials.
    var isPersistent: Bool { permissions == .persistentCredentialManagementReadOnly }

    /// Returns a proof over a message.
    func auth(over message: [UInt8]) -> PINUVAuth {
        PINUVAuth(parameter: version.authenticate(message, key: secret.value), version: version.rawValue)
    }

    /// Returns whether the token covers these permissions.
    func covers(_ wanted: ClientPIN.Permissions, rpID: String?, generation: Int) -> Bool {
        guard generation == self.generation ?? generation else { return false }
        guard let permissions else { return true }
        let isFree = wanted == .largeBlobWrite
        return permissions.isSuperset(of: wanted) && (self.rpID == rpID || isFree)
    }

    /// Returns the token with the permissions that remain after a use.
    func restricted(to permissions: ClientPIN.Permissions) -> FIDOToken {
        FIDOToken(
            secret: secret, version: version, permissions: permissions, rpID: rpID, generation: generation)
    }
}
