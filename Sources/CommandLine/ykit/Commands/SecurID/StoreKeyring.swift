// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKStore
import YKTransport

/// Stores whose key is in the keyring of the desktop session instead of on a security key.
enum StoreKeyring {
    private static func attributes(_ item: String) -> [String] { ["application", "ykit-store", "item", item] }

    /// Seals a store's key with a new secret, which is stored in the Secret Service.
    static func seal(_ key: StoreKey, name: String, _ world: World) throws -> StoreSeal {
        let service = try Keyrings.secretService(or: "omit --keyring to use a passphrase")
        world.terminal.warn(
            "the store is sealed with the keyring of this session only: every program of the session can open it")
        let made = try StoreSeal.secretService(key, name: name, added: world.now, world.environment.random)
        guard world.plan == nil, let item = made.seal.item else { return made.seal }
        try service.keep(
            made.secret.value, "ykit: token store", attributes(item), hint: "unlock it, or use a passphrase")
        return made.seal
    }

    /// Returns the store's key if the keyring has the secret of one of these seals; also `nil` without a keyring.
    static func open(_ seals: [StoreSeal]) throws -> StoreKey? {
        guard let service = SecretService() else { return nil }
        for seal in seals {
            guard let item = seal.item, let secret = try service.secret(attributes(item)) else { continue }
            return try seal.open(secret)
        }
        return nil
    }

    /// Explains why the keyring did not open a store.
    static func failure() -> Explanation {
        do { _ = try Keyrings.secretService(or: "use the session that made the store") } catch { return error }
        return Explanation(
            "keyring", .authentication, "the keyring of this session does not have the key of the store",
            hint: "unlock it, or use the session that made the store")
    }

    /// Deletes the secrets of seals from the keyring; returns how many were deleted.
    static func forget(_ seals: [StoreSeal]) throws -> Int {
        guard let service = SecretService() else { return 0 }
        var count = 0
        for seal in seals {
            guard let item = seal.item, try service.secret(attributes(item)) != nil else { continue }
            if try service.clear(attributes(item)) { count += 1 }
        }
        return count
    }
}
