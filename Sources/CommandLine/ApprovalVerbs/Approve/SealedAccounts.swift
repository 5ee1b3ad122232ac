// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKApproval
import YKCrypto
import YKStore
import YKTransport
import YKWire

/// Accounts whose records have a sealed part. The store's key is opened once, or created with the first account.
final class SealedAccounts {
    /// The store as last read or written.
    private(set) var book: AccountStore
    private let key: StoreKey
    private var seal: StoreSeal?
    private let run: Run

    private init(_ book: AccountStore, _ key: StoreKey, _ seal: StoreSeal?, _ run: Run) {
        (self.book, self.key, self.seal, self.run) = (book, key, seal, run)
    }

    /// Opens the store's key; a store without keys gets one.
    static func open(
        _ book: AccountStore, _ options: StoreKeyOptions, _ run: Run
    ) async throws -> SealedAccounts {
        guard book.content.seals.isEmpty else {
            do {
                let key = try await run.open(book.content, options, for: "open the account store")
                return SealedAccounts(book, key, nil, run)
            } catch StoreError.notThisKey {
                let names = book.content.seals.map { "'\($0.name.printable)'" }.listed()
                throw Explanation(
                    "store-key", .authentication, "this key does not open the account store",
                    hint: "it opens with \(names)")
            }
        }
        let key = try StoreKey(run.environment.random)
        let seal = try await run.seal(
            key, options, NewStoreKeyOptions(), besides: [], of: "account store")
        if !options.software {
            run.terminal.notice("losing this key loses the secrets of these accounts: keep another way to log in")
        }
        return SealedAccounts(book, key, seal, run)
    }

    /// Returns the secret of an account; `nil` if its record has none.
    func secret(of account: ApprovalAccount) throws -> SharedSecret? {
        guard let record = book.content.records.first(where: { $0.id == account.id }), record.hasSecret else {
            return nil
        }
        return try key.open(record, service: ApprovalStore.service)
    }

    /// Writes an account, with or without a secret.
    func put(_ account: ApprovalAccount, _ secret: SharedSecret?) throws {
        guard run.writesStores else { return }
        let record = try secret.map { secret throws(StoreError) in
            try key.seal(secret.value, id: account.id, service: ApprovalStore.service, account.description)
        }
        let known = book.content.seals
        let seal = seal
        try book.file.update { store throws(StoreError) in
            guard store.seals == known else { throw .inUse(path: book.file.path) }
            if let seal { store.add(seal) }
            store.put(record ?? account.record)
        }
        self.seal = nil
        book = try AccountStore(book.file)
    }

    /// Adds another security key to the store, unless it can already open it.
    func share(with other: Run, _ options: StoreKeyOptions) async throws {
        guard !options.software else { return }
        let made: StoreSeal
        do {
            made = try await other.seal(
                key, options, NewStoreKeyOptions(), besides: book.content.seals, of: "account store")
        } catch let error as StoreError {
            guard case .duplicateKey = error else { throw error }
            return
        }
        let known = book.content.seals
        try book.file.update { store throws(StoreError) in
            guard store.seals == known else { throw .inUse(path: book.file.path) }
            store.add(made)
        }
        book = try AccountStore(book.file)
    }
}
