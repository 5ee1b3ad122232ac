// SPDX-License-Identifier: Apache-2.0

public import YKStore
import YKWire

/// The accounts of a store, as they were when it was read.
public struct AccountStore: Sendable {
    /// The file.
    public let file: StoreFile
    /// The file's content.
    public let content: SealedStore
    /// The accounts, in the order of addition.
    public let accounts: [ApprovalAccount]

    private static let gone = "gone"
    private static let seen = "seen"
    /// How long the store remembers when a request was first seen, in seconds.
    private static let memory: Int64 = 3600

    /// Reads a store.
    ///
    /// - Throws: The errors of the file, or `malformed` for a record that is not an account.
    public init(_ file: StoreFile) throws(StoreError) {
        self.file = file
        content = try file.read()
        accounts = try ApprovalStore.accounts(of: content, path: file.path)
    }

    /// The accounts that approve requests.
    public var push: [PushAccount] { accounts.compactMap { PushAccount($0) } }

    // MARK: finding

    /// Returns the accounts that a text identifies, or all accounts without a text.
    ///
    /// - Parameter kinds: The kinds to consider; `nil` for all.
    /// - Throws: `noAccounts`, or `noSuchAccount`.
    public func accounts(
        matching query: String?, of kinds: [ApprovalAccount.Kind]? = nil
    ) throws(ApprovalError) -> [ApprovalAccount] {
        let fitting = kinds.map { kinds in accounts.filter { kinds.contains($0.kind) } } ?? accounts
        let found = query.map { ApprovalStore.matches($0, in: fitting) } ?? fitting
        guard found.isEmpty else { return found }
        throw accounts.isEmpty && kinds == nil ? .noAccounts : .noSuchAccount(query)
    }

    /// Checks that an account can be added.
    ///
    /// - Throws: `accountExists`, or `tooManyAccounts`.
    public func checkRoom(for id: String) throws(ApprovalError) {
        if accounts.contains(where: { $0.id == id }) { throw .accountExists(id) }
        if accounts.count >= ApprovalStore.limit { throw .tooManyAccounts(limit: ApprovalStore.limit) }
    }

    // MARK: what is known of accounts and requests

    /// Whether the server refused the account's signature last time: the account may have been deleted there.
    public func isGone(_ account: ApprovalAccount) -> Bool { content.settings[Self.gone]?[account.id] != nil }

    /// Stores whether the server refused an account's signature, and since when.
    ///
    /// - Parameter time: In seconds since 1970.
    public func mark(_ account: ApprovalAccount, isGone: Bool, at time: Int64) throws(StoreError) {
        guard isGone != self.isGone(account) else { return }
        try file.update { store throws(StoreError) in
            var marks = store.settings[Self.gone]?.object ?? JSONValue.Object()
            marks[account.id] = isGone ? .int(time) : nil
            store.settings[Self.gone] = .object(marks)
        }
    }

    /// Returns when requests were first seen, which is remembered for an hour.
    ///
    /// - Parameters:
    ///   - nonces: The requests.
    ///   - now: The time, in seconds since 1970.
    public func firstSeen(_ nonces: [String], at now: Int64) throws(StoreError) -> [String: Int64] {
        let known = content.settings[Self.seen]?.object ?? JSONValue.Object()
        var times: [String: Int64] = [:]
        for nonce in nonces { times[nonce] = known[nonce]?.int ?? now }
        guard nonces.contains(where: { known[$0] == nil }) else { return times }
        let seen = times
        try file.update { store throws(StoreError) in
            var kept = JSONValue.Object()
            for member in store.settings[Self.seen]?.object?.members ?? [] {
                if let time = member.value.int, time > now - Self.memory { kept[member.key] = .int(time) }
            }
            for (nonce, time) in seen where kept[nonce] == nil { kept[nonce] = .int(time) }
            store.settings[Self.seen] = .object(kept)
        }
        return times
    }
}
