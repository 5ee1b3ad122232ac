// SPDX-License-Identifier: Apache-2.0

public import YKSecurID
public import YKStore
public import YKTransport
import YKWire

/// The SecurID tokens in a sealed store, as they were when it was read.
///
/// Listing tokens needs no key; a seed is in memory only while the store's key is available.
public struct TokenStore: Sendable {
    /// The file.
    public let file: StoreFile
    /// The file's content.
    public let content: SealedStore
    /// The tokens, in the order of addition.
    public let tokens: [StoredToken]

    /// The service of token stores.
    public static let service = "securid"
    private static let current = "current"
    private static let bindingID = "bindingId"

    /// Reads a store.
    ///
    /// - Throws: `store`.
    public init(_ file: StoreFile) throws(TokenStoreError) {
        self.file = file
        do {
            let content = try file.read()
            self.content = content
            tokens = try content.records.map { record throws(StoreError) in
                try StoredToken(record, path: file.path)
            }
        } catch { throw .store(error) }
    }

    /// The serial number of the token to use when none is named.
    public var current: String? { content.settings[Self.current]?.string }

    /// The identifier to which issuers bind tokens of this store; `nil` if none was generated yet.
    public var bindingID: String? { content.settings[Self.bindingID]?.string }

    /// Returns the tokens that match a text: the one with this serial number or nickname, otherwise those that contain
    /// it. Without a text, returns the current token, or all if there is none.
    ///
    /// - Throws: `empty`, or `noSuchToken`.
    public func tokens(matching query: String?) throws(TokenStoreError) -> [StoredToken] {
        guard !tokens.isEmpty else { throw .empty }
        guard let query else { return tokens.first { $0.serial == current }.map { [$0] } ?? tokens }
        let found = PartMatch(query, in: tokens).all
        guard !found.isEmpty else { throw .noSuchToken }
        return found
    }

    /// Checks that a nickname is free for a token.
    ///
    /// - Throws: `nicknameTaken`.
    public func check(nickname: String, for serial: String?) throws(TokenStoreError) {
        guard let other = tokens.first(where: { $0.nickname == nickname }), other.serial != serial else { return }
        throw .nicknameTaken(nickname)
    }

    /// Returns those tokens that the store does not have.
    ///
    /// - Parameter limit: The maximum number of tokens in the store.
    /// - Throws: `tooMany`.
    public func new(_ tokens: [SecurIDToken], limit: Int) throws(TokenStoreError) -> [SecurIDToken] {
        let known = Set(self.tokens.map(\.serial))
        let new = tokens.filter { !known.contains($0.serial) }
        guard known.count + new.count <= limit else { throw .tooMany(known.count + new.count, limit: limit) }
        return new
    }

    // MARK: changes

    /// Adds tokens; existing ones are not changed.
    ///
    /// - Parameters:
    ///   - key: The store's key.
    ///   - seal: The first seal of a store without keys.
    /// - Throws: `store`, with `inUse` if another program changed the store's keys.
    public func add(_ tokens: [SecurIDToken], _ key: StoreKey, seal: StoreSeal? = nil) throws(TokenStoreError) {
        var records: [StoreRecord] = []
        for token in tokens { records.append(try token.record(key)) }
        let (made, seals, path) = (records, content.seals, file.path)
        try update { store throws(StoreError) in
            guard store.seals == seals else { throw .file(.inUse(path: path)) }
            if let seal { store.add(seal) }
            let known = Set(store.records.map(\.id))
            store.append(made.filter { !known.contains($0.id) })
        }
    }

    /// Gives a token a nickname, or removes it.
    ///
    /// - Throws: `nicknameTaken`, `token`, or `store`, with `inUse` if another program changed the token.
    public func rename(_ token: StoredToken, _ nickname: String?, _ key: StoreKey) throws(TokenStoreError) {
        if let nickname { try check(nickname: nickname, for: token.serial) }
        let made = try renamed(token, nickname, key)
        let path = file.path
        try update { store throws(StoreError) in
            guard store.records.contains(token.record) else { throw .file(.inUse(path: path)) }
            store.put(made)
        }
    }

    private func renamed(
        _ token: StoredToken, _ nickname: String?, _ key: StoreKey
    ) throws(TokenStoreError) -> StoreRecord {
        var changed = try token.token(key)
        changed.nickname = nickname
        return try changed.record(key)
    }

    /// Makes a token the current one.
    public func use(_ token: StoredToken) throws(TokenStoreError) {
        try update { store throws(StoreError) in store.settings[Self.current] = .string(token.serial) }
    }

    /// Deletes a token; its seed cannot be recovered.
    public func delete(_ token: StoredToken) throws(TokenStoreError) {
        try update { store throws(StoreError) in
            store.remove(token.record.id)
            if store.settings[Self.current]?.string == token.serial { store.settings[Self.current] = nil }
        }
    }

    /// Deletes all tokens and all keys; the binding identifier is kept.
    public func clear() throws(TokenStoreError) {
        try update { store throws(StoreError) in
            store.clear()
            store.settings[Self.current] = nil
        }
    }

    /// Returns the binding identifier, which is generated and stored on the first call.
    ///
    /// - Throws: `store`, or `random`.
    public func makeBindingID(_ random: any RandomSource) throws(TokenStoreError) -> String {
        let made: String
        do { made = try DeviceBinding.makeID(random) } catch { throw .random }
        return try update { store throws(StoreError) -> String in
            if let known = store.settings[Self.bindingID]?.string, DeviceBinding.isID(known) { return known }
            store.settings[Self.bindingID] = .string(made)
            return made
        }
    }

    @discardableResult
    private func update<Value>(
        _ body: (inout SealedStore) throws(StoreError) -> Value
    ) throws(TokenStoreError) -> Value {
        do { return try file.update(body) } catch { throw .store(error) }
    }
}
