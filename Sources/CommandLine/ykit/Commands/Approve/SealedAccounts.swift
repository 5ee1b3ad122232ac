// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKApproval
import YKCrypto
import YKStore
import YKTransport
import YKWire

/// Accounts whose records have a sealed part. The store's key is opened once, or created with the first account.
final class SealedAccounts {
    /// The store as last read or written.
    private(set) var book: AccountBook
    private let key: StoreKey
    private var seal: StoreSeal?
    private let world: World

    private init(_ book: AccountBook, _ key: StoreKey, _ seal: StoreSeal?, _ world: World) {
        (self.book, self.key, self.seal, self.world) = (book, key, seal, world)
    }

    /// Opens the store's key; a store without keys gets one.
    static func open(
        _ book: AccountBook, _ options: StoreKeyOptions, _ world: World
    ) async throws -> SealedAccounts {
        guard book.store.seals.isEmpty else {
            do {
                let key = try await world.open(book.store, options, for: "open the account store")
                return SealedAccounts(book, key, nil, world)
            } catch StoreError.notThisKey {
                let names = book.store.seals.map { "'\($0.name.printable)'" }.listed()
                throw Explanation(
                    "store-key", .authentication, "this key does not open the account store",
                    hint: "it opens with \(names)")
            }
        }
        let key = try StoreKey(world.environment.random)
        let seal = try await world.seal(
            key, options, NewStoreKeyOptions(), besides: [], of: "account store")
        if !options.software {
            world.terminal.notice("losing this key loses the secrets of these accounts: keep another means to log in")
        }
        return SealedAccounts(book, key, seal, world)
    }

    /// Returns the secret of an account; `nil` if its record has none.
    func secret(of account: ApprovalAccount) throws -> SharedSecret? {
        guard let record = book.store.records.first(where: { $0.id == account.id }), record.hasSecret else {
            return nil
        }
        return try key.open(record, service: ApprovalStore.service)
    }

    /// Writes an account, with or without a secret.
    func put(_ account: ApprovalAccount, _ secret: SharedSecret?) throws {
        guard world.plan == nil else { return }
        let record = try secret.map { secret throws(StoreError) in
            try key.seal(secret.value, id: account.id, service: ApprovalStore.service, account.description)
        }
        let known = book.store.seals
        let seal = seal
        try book.file.update { store throws(StoreError) in
            guard store.seals == known else { throw .inUse(path: book.file.path) }
            if let seal { store.add(seal) }
            store.put(record ?? account.record)
        }
        self.seal = nil
        book = try AccountBook(book.file)
    }

    /// Adds another security key to the store, unless it can already open it.
    func share(with other: World, _ options: StoreKeyOptions) async throws {
        guard !options.software else { return }
        let made: StoreSeal
        do {
            made = try await other.seal(
                key, options, NewStoreKeyOptions(), besides: book.store.seals, of: "account store")
        } catch let error as StoreError {
            guard case .duplicateKey = error else { throw error }
            return
        }
        let known = book.store.seals
        try book.file.update { store throws(StoreError) in
            guard store.seals == known else { throw .inUse(path: book.file.path) }
            store.add(made)
        }
        book = try AccountBook(book.file)
    }
}

extension AccountBook {
    /// Refuses an account that already exists, and one that exceeds the store's capacity.
    func checkRoom(for id: String) throws(Explanation) {
        guard !accounts.contains(where: { $0.id == id }) else {
            throw Explanation(
                "exists", .policy, "the store has account \(id.printable) already", hint: "ykit approve accounts")
        }
        guard accounts.count < ApprovalStore.limit else {
            throw Explanation("too-many", .policy, "the store holds \(ApprovalStore.limit) accounts, which is the most")
        }
    }

    /// Returns the only account of some kinds that a text names, or the only one there is; the user chooses among
    /// several.
    func one(
        _ query: String?, of kinds: [ApprovalAccount.Kind], _ what: String, _ world: World
    ) throws -> ApprovalAccount {
        let fitting = accounts.filter { kinds.contains($0.kind) }
        let found = query.map { ApprovalStore.matches($0, in: fitting) } ?? fitting
        guard !found.isEmpty else {
            throw Explanation(
                "no-such-account", .notFound,
                query.map { "no account \(what) matches '\($0.printable)'" } ?? "the store has no account \(what)",
                hint: "'ykit approve accounts' lists them, 'ykit approve open LINK' adds one")
        }
        return try Self.one(found, "\(found.count) accounts \(what) match, name one", world)
    }

    /// Returns the container that a text names, or the only container if there is no text.
    func container(_ query: String?, _ world: World) throws -> ContainerAccount {
        let account = try one(query, of: [.container], "that is a container", world)
        guard let container = ContainerAccount(account) else {
            throw Explain.malformed("container '\(account.name.printable)' cannot be read")
        }
        return container
    }
}
