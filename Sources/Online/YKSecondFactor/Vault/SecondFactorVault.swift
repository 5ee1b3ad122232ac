// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHTTP
public import YKStore
public import YKTransport
public import YKWire

/// Why a secret could not be stored or read.
public enum VaultError: Error, Hashable, Sendable {
    /// The store failed.
    case store(StoreError)
    /// No session is stored.
    case noSession
    /// Sessions at several servers are stored, given by their addresses.
    case severalSessions([String])
    /// The stored session has expired.
    case expired
    /// The record of the session is damaged.
    case malformed
}

/// What a client of second factors stores between uses, sealed by a security key: sessions, and the cookies of
/// remembered devices.
public struct SecondFactorVault {
    /// Opens the key of a store that has one.
    public typealias Opening = (SealedStore) async throws -> StoreKey
    /// Makes the first seal of a store's new key.
    public typealias Sealing = (StoreKey) async throws -> StoreSeal

    /// The service of such stores.
    public static let service = "2fa"

    /// The file.
    public let file: StoreFile
    /// Whether changes are written; `false` for a plan.
    public let isWritable: Bool
    private let random: any RandomSource
    private let open: Opening
    private let seal: Sealing

    /// Uses a file.
    ///
    /// - Parameters:
    ///   - isWritable: Whether changes are written.
    ///   - random: The source of the store's key.
    ///   - open: Opens the store's key, with a security key or a passphrase.
    ///   - seal: Seals a new key of the store.
    public init(
        _ file: StoreFile, isWritable: Bool = true, _ random: any RandomSource, open: @escaping Opening,
        seal: @escaping Sealing
    ) {
        (self.file, self.isWritable, self.random, self.open, self.seal) = (file, isWritable, random, open, seal)
    }

    // MARK: sessions

    /// Returns the record of the session at a server; `nil` if none is stored.
    public func session(at server: HTTPURL) throws(VaultError) -> StoreRecord? {
        try record(Self.sessionID(server.description))
    }

    /// Returns the record of the only session.
    ///
    /// - Throws: `noSession`, or `severalSessions`.
    public func onlySession() throws(VaultError) -> StoreRecord {
        let found = try read().records.filter { $0.id.hasPrefix(Self.sessionID("")) }
        guard let record = found.first else { throw .noSession }
        guard found.count == 1 else {
            throw .severalSessions(found.compactMap { $0.description["server"]?.string })
        }
        return record
    }

    /// Unseals the token of a session; requires the key.
    ///
    /// - Parameter now: The time, in seconds since 1970.
    /// - Throws: `VaultError`, with `expired` or `malformed`, and the errors of opening the store.
    public func token(of record: StoreRecord, at now: Int64) async throws -> (KeptSession, SharedSecret) {
        let token = try await unseal(record)
        guard let session = KeptSession(record.description) else { throw VaultError.malformed }
        if let expiry = session.expiry, expiry <= now { throw VaultError.expired }
        return (session, token)
    }

    /// Stores a session; requires the key.
    public func keep(_ session: KeptSession, _ token: SharedSecret) async throws {
        try await keep(id: Self.sessionID(session.server.description), session.json) { _ in token }
    }

    private static func sessionID(_ server: String) -> String { "login \(server)" }

    /// Returns the identifier of a user's cookie at a server.
    public static func deviceID(_ server: HTTPURL, _ user: String) -> String { "trust \(server) \(user)" }

    // MARK: records

    private func read() throws(VaultError) -> SealedStore {
        do { return try file.read() } catch { throw .store(error) }
    }

    /// Returns a record; `nil` if there is none.
    public func record(_ id: String) throws(VaultError) -> StoreRecord? {
        try read().records.first { $0.id == id }
    }

    private func unseal(_ record: StoreRecord) async throws -> SharedSecret {
        try await storeKey().key.open(record, service: Self.service)
    }

    /// Returns the store's key, with its seal if it is new.
    private func storeKey() async throws -> (key: StoreKey, seal: StoreSeal?) {
        let store = try read()
        guard store.seals.isEmpty else { return (try await open(store), nil) }
        let made = try StoreKey(random)
        return (made, try await seal(made))
    }

    /// Opens the store before the secret is made, so that a missing key does not lose what a server returns only once.
    ///
    /// - Parameter make: Makes the secret from the one that it replaces.
    public func keep(
        id: String, _ description: JSONValue, _ make: (SharedSecret?) async throws -> SharedSecret
    ) async throws {
        let (key, seal) = try await storeKey()
        let secret = try await make(try record(id).map { try key.open($0, service: Self.service) })
        guard isWritable else { return }
        let made = try key.seal(secret.value, id: id, service: Self.service, description)
        try file.update { store throws(StoreError) in
            if let seal {
                guard store.seals.isEmpty else { throw .file(.inUse(path: file.path)) }
                store.add(seal)
            }
            store.put(made)
        }
    }

    /// Removes a record; no key is needed.
    public func remove(_ id: String) throws(VaultError) {
        guard isWritable else { return }
        do { try file.update { store throws(StoreError) in store.remove(id) } } catch { throw .store(error) }
    }
}

/// The public part of a stored session, without its token.
public struct KeptSession: Hashable, Sendable {
    /// The server.
    public let server: HTTPURL
    /// How the server is authenticated.
    public let trust: HTTPTrust
    /// The account that is logged in.
    public let account: String
    /// What the account may do, in the server's word.
    public let role: String
    /// The expiry, in seconds since 1970-01-01 00:00 UTC; `nil` if it has none.
    public let expiry: Int64?

    /// Describes a session.
    public init(server: HTTPURL, trust: HTTPTrust, account: String, role: String, expiry: Int64?) {
        (self.server, self.trust, self.account, self.role, self.expiry) = (server, trust, account, role, expiry)
    }

    init?(_ json: JSONValue) {
        guard let server = try? HTTPURL(json["server"]?.string ?? "") else { return nil }
        var trust = HTTPTrust(authorities: json["ca"]?.string)
        for pin in (json["pins"]?.array ?? []).compactMap(\.string) {
            guard let pin = try? HTTPPin(pin) else { return nil }
            trust.pins.append(pin)
        }
        trust.verifiesCertificate = json["insecure"]?.bool != true
        self.init(
            server: server, trust: trust, account: json["account"]?.string ?? "", role: json["role"]?.string ?? "",
            expiry: json["expires"]?.int)
    }

    var json: JSONValue {
        [
            "kind": "login", "server": .string(server.description), "account": .string(account),
            "role": .string(role), "expires": expiry.map(JSONValue.int) ?? .null,
            "ca": trust.authorities.map(JSONValue.string) ?? .null,
            "pins": .array(trust.pins.map { .string($0.description) }),
            "insecure": .bool(!trust.verifiesCertificate),
        ]
    }
}
