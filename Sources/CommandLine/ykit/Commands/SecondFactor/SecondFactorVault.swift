// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKStore
import YKTransport
import YKWire

/// The data that `2fa` stores between commands, sealed by a security key: sessions, API keys, and the cookies of
/// remembered devices.
struct SecondFactorVault {
    private static let service = "2fa"

    let file: StoreFile
    private let world: World
    private let key: StoreKeyOptions

    init(_ path: String?, _ world: World, _ key: StoreKeyOptions) throws {
        file = try StoreFile(path ?? StorePathOptions.usual("2fa.json"), service: Self.service)
        self.world = world
        self.key = key
    }

    /// The record id of a user's cookie at a server.
    static func trustID(_ url: some CustomStringConvertible, _ user: String) -> String { "trust \(url) \(user)" }

    /// Returns the stored session for a server.
    func logIn(at url: some CustomStringConvertible) throws -> StoreRecord? { try record("login \(url)") }

    /// Returns the only stored session.
    func onlyLogIn() throws -> StoreRecord {
        let found = try file.read().records.filter { $0.id.hasPrefix("login ") }
        guard let record = found.first else {
            throw Explanation(
                "no-log-in", .notFound, "no login is kept",
                hint: "name the server with --server URL or YKIT_2FA_SERVER, or keep a login: ykit 2fa login --keep")
        }
        guard found.count == 1 else {
            throw Explanation(
                "ambiguous", .severalDevices, "logins at several servers were kept, choose one with --server",
                candidates: found.compactMap { $0.description["server"]?.string })
        }
        return record
    }

    /// Returns a record.
    func record(_ id: String) throws -> StoreRecord? { try file.read().records.first { $0.id == id } }

    /// Unseals the secret of a record; requires the key.
    func open(_ record: StoreRecord) async throws -> SharedSecret {
        try await storeKey().key.open(record, service: Self.service)
    }

    /// Returns the store's key, with its seal if it is new.
    private func storeKey() async throws -> (key: StoreKey, seal: StoreSeal?) {
        let store = try file.read()
        guard store.seals.isEmpty else {
            return (try await world.open(store, key, for: "open the store of second factors"), nil)
        }
        let made = try StoreKey(world.environment.random)
        let seal = try await world.seal(
            made, key, NewStoreKeyOptions(), besides: [], of: "store of second factors")
        return (made, seal)
    }

    /// Seals a secret, replacing an earlier one; requires the key.
    func put(_ secret: SharedSecret, id: String, _ description: JSONValue) async throws {
        try await keep(id: id, description) { _ in secret }
    }

    /// Opens the store before the secret is created, so that a missing key does not lose what a server returns only
    /// once.
    @discardableResult
    func keep(
        id: String, _ description: JSONValue, _ make: (SharedSecret?) async throws -> SharedSecret
    ) async throws -> StoreRecord? {
        let (key, seal) = try await storeKey()
        let before = try record(id)
        let secret = try await make(try before.map { try key.open($0, service: Self.service) })
        guard world.plan == nil else { return nil }
        let made = try key.seal(secret.value, id: id, service: Self.service, description)
        try file.update { store throws(StoreError) in
            if let seal {
                guard store.seals.isEmpty else { throw .inUse(path: file.path) }
                store.add(seal)
            }
            store.put(made)
        }
        return made
    }

    /// Removes a record.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    func remove(_ id: String) throws -> Bool {
        guard world.plan == nil else { return false }
        return try file.update { store throws(StoreError) -> Bool in
            let isKnown = store.records.contains { $0.id == id }
            store.remove(id)
            return isKnown
        }
    }
}
