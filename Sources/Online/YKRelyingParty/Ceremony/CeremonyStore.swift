// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
import YKWire

/// A store of ceremonies in progress.
public protocol CeremonyStore: Sendable {
    /// Stores a ceremony.
    ///
    /// - Returns: An unguessable token.
    func keep(_ ceremony: Ceremony) async throws -> String

    /// Removes and returns a ceremony.
    ///
    /// - Returns: The ceremony the first time; `nil` afterwards, for another session, and for an unknown token.
    func take(_ token: String, session: String) async throws -> Ceremony?
}

/// The challenges of sealed ceremonies that have ended, so that none is used twice. Servers that share a sealing key
/// must share them too.
public protocol SpentChallenges: Sendable {
    /// Records a challenge until its ceremony expires, in seconds since 1970-01-01 00:00 UTC.
    ///
    /// - Returns: Whether the challenge was not recorded before.
    func spend(_ challenge: [UInt8], until expiry: Int64) async throws -> Bool
}

/// An in-memory store of ceremonies, for a server with a single process.
public actor MemoryCeremonies: CeremonyStore, SpentChallenges {
    private var ceremonies: [String: Ceremony] = [:]
    private var spent: [[UInt8]: Int64] = [:]
    private var lastPurge = Int64.min
    private let environment: ServiceEnvironment
    private let limit: Int

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of ceremonies, and of spent challenges.
    ///   - environment: The source of randomness and the time of day.
    public init(limit: Int = 100_000, environment: ServiceEnvironment = ServiceEnvironment()) {
        self.limit = max(1, limit)
        self.environment = environment
    }

    /// Stores a ceremony.
    ///
    /// - Throws: ``CeremonyError/tooManyCeremonies``.
    public func keep(_ ceremony: Ceremony) throws -> String {
        if ceremonies.count >= limit { purge() }
        guard ceremonies.count < limit else { throw CeremonyError.tooManyCeremonies }
        let token = Base64.encodeURL(try environment.random.draw(24, secret: true))
        ceremonies[token] = ceremony
        return token
    }

    /// Removes and returns a ceremony. A token presented by another session ends its ceremony.
    public func take(_ token: String, session: String) -> Ceremony? {
        guard let ceremony = ceremonies.removeValue(forKey: token), ceremony.session == session else { return nil }
        return ceremony
    }

    /// Records a challenge.
    ///
    /// - Throws: ``CeremonyError/tooManyCeremonies``.
    public func spend(_ challenge: [UInt8], until expiry: Int64) throws -> Bool {
        guard spent[challenge] == nil else { return false }
        if spent.count >= limit { purge() }
        guard spent.count < limit else { throw CeremonyError.tooManyCeremonies }
        spent[challenge] = expiry
        return true
    }

    /// Removes expired entries, at most once a second.
    private func purge() {
        let now = environment.clock.now
        guard now > lastPurge else { return }
        lastPurge = now
        ceremonies = ceremonies.filter { $0.value.expires > now }
        spent = spent.filter { $0.value > now }
    }
}

/// Ceremonies that the client holds, encrypted with a key of the server (AES-256-GCM) and bound to the session. The
/// server stores only the challenges of ceremonies that have ended.
public struct SealedCeremonies: CeremonyStore {
    private let key: SharedSecret
    private let spent: any SpentChallenges

    /// Maximum length of a token in characters.
    static let tokenLimit = 1 << 20

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - key: The sealing key, 32 bytes.
    ///   - spent: The spent challenges.
    public init(key: SharedSecret, spent: any SpentChallenges) {
        self.key = key
        self.spent = spent
    }

    /// Encrypts a ceremony.
    ///
    /// - Throws: `CryptoFault` for a key of invalid length.
    public func keep(_ ceremony: Ceremony) throws -> String {
        let sealed = try AESGCM.seal(
            Secret(utf8: ceremony.json.text), key: key.value, context: Self.context(ceremony.session))
        return Base64.encodeURL(sealed)
    }

    /// Decrypts a ceremony; `nil` for a token that was modified, belongs to another session, or was already used.
    public func take(_ token: String, session: String) async throws -> Ceremony? {
        guard token.utf8.count <= Self.tokenLimit, let sealed = try? Base64.decode(token),
            let ceremony = open(sealed, session)
        else { return nil }
        return try await spent.spend(ceremony.challenge, until: ceremony.expires) ? ceremony : nil
    }

    private func open(_ sealed: [UInt8], _ session: String) -> Ceremony? {
        guard let text = try? AESGCM.open(sealed, key: key.value, context: Self.context(session)),
            let json = try? JSONValue(parsing: text.copyBytes())
        else { return nil }
        return try? Ceremony(json: json)
    }

    private static func context(_ session: String) -> [UInt8] {
        Array("ykit WebAuthn ceremony 1\n".utf8) + Array(session.utf8)
    }
}
