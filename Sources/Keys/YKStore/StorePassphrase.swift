// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
import YKWire

extension StoreSeal {
    /// scrypt's cost for new passphrases: 16 MiB and about a third of a second.
    private static let cost = (n: 1 << 14, r: 8, p: 5)

    /// Encrypts a store's key under a passphrase. No hardware is involved, so a copy of the file can be attacked by
    /// guessing.
    public static func passphrase(
        _ key: StoreKey, _ passphrase: borrowing Secret, name: String, added: Int64, _ random: any RandomSource
    ) throws(StoreError) -> StoreSeal {
        let salt = try StoreRandom.draw(16, random, secret: false)
        let secret = try stretched(passphrase, salt, cost.n, cost.r, cost.p)
        let means = Means.passphrase(salt: salt, cost: cost.n, blockSize: cost.r, parallelism: cost.p)
        return try StoreSeal(key, under: secret, means, name: name, added: added, random)
    }

    /// Decrypts the store's key with a passphrase.
    ///
    /// - Throws: `wrongPassphrase`, or `notThisKey` for other kinds of seals.
    public func open(passphrase: borrowing Secret) throws(StoreError) -> StoreKey {
        guard case .passphrase(let salt, let cost, let blockSize, let parallelism) = means else { throw .notThisKey }
        return try open(try Self.stretched(passphrase, salt, cost, blockSize, parallelism))
    }

    /// Encrypts a store's key under a new random secret, which the caller stores in the desktop's Secret Service under
    /// the seal's ``item``. No hardware is involved, so anyone with the unlocked keyring and the file can read the
    /// records.
    public static func secretService(
        _ key: StoreKey, name: String, added: Int64, _ random: any RandomSource
    ) throws(StoreError) -> (seal: StoreSeal, secret: SharedSecret) {
        let item = Hex.encode(try StoreRandom.draw(16, random, secret: false))
        var bytes = try StoreRandom.draw(32, random, secret: true)
        defer { Secret.wipe(&bytes) }
        let secret = SharedSecret(Secret(bytes))
        return (
            try StoreSeal(key, under: secret.value, .secretService(item: item), name: name, added: added, random),
            secret
        )
    }

    private static func stretched(
        _ passphrase: borrowing Secret, _ salt: [UInt8], _ cost: Int, _ blockSize: Int, _ parallelism: Int
    ) throws(StoreError) -> Secret {
        let scrypt = PasswordHash.scrypt(cost: cost, blockSize: blockSize, parallelism: parallelism)
        do { return try scrypt.derive(passphrase, salt: salt, length: 32) } catch {
            throw .crypto(CryptoFault("scrypt: \(error)"))
        }
    }
}
