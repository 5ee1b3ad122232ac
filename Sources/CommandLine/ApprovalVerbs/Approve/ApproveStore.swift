// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs

/// Commands for the keys that open the account store.
struct ApproveStoreGroup: ParsableCommand {
    static let about = About(
        "store", "The keys that open the secrets in the account store.",
        subcommands: [ApproveStoreInfo.self, ApproveStoreAddKey.self, ApproveStoreRemoveKey.self],
        examples: [Example("ykit approve store info")])
}

/// The keys of the account store.
struct AccountStoreContents: Report {
    let store: StoreContents

    static let members: [Member<AccountStoreContents>] =
        including { $0.store } + [Member("accountCount") { $0.store.records }]
}

/// Shows the keys of the account store.
struct ApproveStoreInfo: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "info", "Show which keys open the account store.",
        examples: [Example("ykit approve store info")])

    @OptionGroup var path: ApproveStoreOptions

    func run(in run: Run) async throws -> Outcome<AccountStoreContents> {
        let store = try StoreContents(path.file(run))
        return Outcome(AccountStoreContents(store: store), store.lines("account"))
    }
}

/// Adds a key to the account store.
struct ApproveStoreAddKey: Verb {
    static let about = About(
        "add-key", "Let another key open the account store, as a spare.",
        discussion: """
            The store holds the secrets of accounts that no application of a key can hold: TiQR, offline codes, keys \
            in software. The keys of push accounts and containers are in PIV slots and are not copied. If only one key \
            can be attached at a time, --from selects the key that opens the store now.
            """,
        examples: [Example("ykit approve store add-key")])

    @OptionGroup var path: ApproveStoreOptions
    @OptionGroup var key: StoreKeyOptions
    @OptionGroup var newKey: NewStoreKeyOptions
    @OptionGroup var present: PresentStoreKeyOptions

    func check() throws { try newKey.check(key) }

    func run(in run: Run) async throws -> Outcome<AddedStoreKey> {
        try await StoreKeys.add(newKey, key, present, to: path.file(run), "account store", run)
    }
}

/// Removes a key from the account store.
struct ApproveStoreRemoveKey: Verb {
    static let about = About(
        "remove-key", "Revoke a key's access to the account store.",
        discussion: "The key is not needed. It can still open older copies of the file.",
        examples: [Example("ykit approve store remove-key spare")])

    @Argument("name", help: "The key's identifier or name, as 'store info' shows it.") var name: EntryQuery

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var path: ApproveStoreOptions

    func run(in run: Run) async throws -> Outcome<RemovedStoreKey> {
        try StoreKeys.remove(name, from: path.file(run), confirmation, run)
    }
}
