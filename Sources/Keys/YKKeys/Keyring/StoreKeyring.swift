// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKStore
public import YKTransport

/// Opens stores whose key is in the keyring of the desktop session instead of on a security key.
public struct StoreKeyring: Sendable {
    private let service: SecretService

    /// Uses the Secret Service of a desktop session.
    public init(_ service: SecretService) { self.service = service }

    private static func attributes(_ item: String) -> [String] { ["application", "ykit-store", "item", item] }

    /// Seals a store's key with a new secret, which is stored in the keyring.
    ///
    /// Every program of the session can open the store while the keyring is unlocked.
    ///
    /// - Parameters:
    ///   - name: The display name of the seal.
    ///   - added: The time, in seconds since 1970.
    /// - Throws: `StoreError`, or ``KeyringError`` when the secret is not stored.
    public func seal(
        _ key: StoreKey, name: String, added: Int64, _ random: any RandomSource
    ) throws -> StoreSeal {
        let made = try StoreSeal.secretService(key, name: name, added: added, random)
        guard let item = made.seal.item else { return made.seal }
        try service.keep(made.secret.value, "ykit: token store", Self.attributes(item))
        return made.seal
    }

    /// Returns the store's key if the keyring has the secret of one of these seals.
    ///
    /// - Throws: `StoreError`, or ``KeyringError``.
    public func open(_ seals: [StoreSeal]) throws -> StoreKey? {
        for seal in seals {
            guard let item = seal.item, let secret = try service.secret(Self.attributes(item)) else { continue }
            return try seal.open(secret)
        }
        return nil
    }

    /// Deletes the secrets of seals from the keyring; returns how many were deleted.
    public func forget(_ seals: [StoreSeal]) throws(KeyringError) -> Int {
        var count = 0
        for seal in seals {
            guard let item = seal.item, try service.secret(Self.attributes(item)) != nil else { continue }
            if try service.clear(Self.attributes(item)) { count += 1 }
        }
        return count
    }
}
