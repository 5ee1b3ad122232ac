// SPDX-License-Identifier: Apache-2.0

import YKCrypto

/// What a key gave for a PIN or a built-in user verification (pinUvAuthToken, CTAP 2.2 §6.5.5.7): good for some
/// permissions, one relying party, and until the key loses power or lets it expire.
public struct FIDOToken: Sendable {
    let secret: SharedSecret
    let version: PINProtocol
    /// What it permits; `nil` for a token of CTAP 2.0, which permits everything the key has.
    public let permissions: ClientPIN.Permissions?
    /// The relying party it is bound to.
    public let rpID: String?
    let generation: Int

    /// Proves knowledge of the token over a message.
    func auth(over message: [UInt8]) -> PINUVAuth {
        PINUVAuth(parameter: version.authenticate(message, key: secret.value), version: version.rawValue)
    }

    /// Whether it can be used for this.
    func covers(_ wanted: ClientPIN.Permissions, rpID: String?, generation: Int) -> Bool {
        guard generation == self.generation else { return false }
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
