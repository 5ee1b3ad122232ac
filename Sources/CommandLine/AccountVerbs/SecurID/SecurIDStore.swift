// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKStore
import YKTransport

/// The keys of the token store.
struct TokenStoreContents: Report {
    let store: StoreContents

    static let members: [Member<TokenStoreContents>] =
        including { $0.store } + [Member("tokenCount") { $0.store.records }]
}

/// Shows the keys of the store.
struct SecurIDStoreShow: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "info", "Show which keys open the store.",
        examples: [Example("ykit securid store info")])

    @OptionGroup var path: StorePathOptions

    func run(in run: Run) async throws -> Outcome<TokenStoreContents> {
        let store = try StoreContents(try path.file(run))
        return Outcome(TokenStoreContents(store: store), store.lines("token"))
    }
}

/// Adds a key to the store.
struct SecurIDStoreAddKey: Verb {
    static let about = About(
        "add-key", "Let another key open the store, as a spare.",
        discussion: """
            The store is opened with one of its keys, then sealed for the new one. If only one key can be attached at \
            a time, --from names the state file of a virtual key, or the serial number of the key that opens the \
            store; without it the selected key opens the store, and ykit asks for the new one.
            """,
        examples: [Example("ykit securid store add-key")])

    @OptionGroup var path: StorePathOptions
    @OptionGroup var key: StoreKeyOptions
    @OptionGroup var newKey: NewStoreKeyOptions
    @OptionGroup var present: PresentStoreKeyOptions

    func check() throws { try newKey.check(key) }

    func run(in run: Run) async throws -> Outcome<AddedStoreKey> {
        try await StoreKeys.add(newKey, key, present, to: try path.file(run), "token store", run)
    }
}

/// Removes a key from the store.
struct SecurIDStoreRemoveKey: Verb {
    static let about = About(
        "remove-key", "Revoke a key's access to the store.",
        discussion: """
            The key is not needed. It can still open older copies of the file, unless it is in the keyring of this \
            session, where it is deleted.
            """,
        examples: [Example("ykit securid store remove-key spare")])

    @Argument("name", help: "The key's identifier or name, as 'store info' shows it.") var name: EntryQuery

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var path: StorePathOptions

    func run(in run: Run) async throws -> Outcome<RemovedStoreKey> {
        try StoreKeys.remove(name, from: try path.file(run), confirmation, run)
    }
}
