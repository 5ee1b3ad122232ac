// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import Glibc
import TerminalIO
import Verbs
import YKApproval
import YKCrypto
import YKStore
import YKTransport
import YKWire

/// The location of the account store.
struct ApproveStoreOptions: StoreOptions {
    static let kind = StoreKind(
        ApprovalStore.service, "account store", of: "account",
        contents: "The store holds the secrets of accounts that no application of a key can hold: TiQR, offline codes, "
            + "keys in software. The keys of push accounts and containers are in PIV slots and are not copied. ")

    @Option("--store <file>", help: "The store of accounts (default: $XDG_DATA_HOME/ykit/approve.json).")
    var store: String?

    /// Reads the accounts.
    func accounts(_ run: Run) throws -> AccountStore { try AccountStore(file(run)) }
}

extension AccountStore {
    /// The number of accounts, for people.
    var countText: String { accounts.count == 1 ? "1 account" : "\(accounts.count) accounts" }

    /// The history's file.
    var history: HistoryFile { HistoryFile(file) }

    /// Returns the account that a text matches, or the only account if no text is given; if there are several, the user
    /// chooses.
    func one(_ query: EntryQuery?, _ run: Run) throws -> ApprovalAccount {
        let all = try accounts(matching: nil)
        if let query { return try run.entry(query, in: all) }
        return try Self.one(all, "the store has \(all.count) accounts; choose one", run)
    }

    /// Returns the only account, or the one that the user chooses among several.
    static func one(_ found: [ApprovalAccount], _ message: String, _ run: Run) throws -> ApprovalAccount {
        if found.count == 1 { return found[0] }
        let failure = ApprovalAccount.several(message, found)
        return found[try run.choose(ApprovalAccount.choice, among: failure.candidates.map(\.line), orElse: failure)]
    }

    /// Returns the push account that a text matches, or the only push account if no text is given.
    func onePush(_ query: EntryQuery?, _ run: Run) throws -> PushAccount {
        let push = push.map(\.account)
        return try Self.push(
            query == nil && !push.isEmpty
                ? try Self.one(push, "the store has \(push.count) accounts; choose one", run) : try one(query, run))
    }

    /// Returns a push account.
    static func push(_ account: ApprovalAccount) throws(Explanation) -> PushAccount {
        guard let push = PushAccount(account) else {
            throw Explanation(
                "not-push", .usage,
                "account '\(account.name.printable)' is of kind \(account.kind.rawValue), not push")
        }
        return push
    }

    /// Returns the push accounts to poll: the named one, or all.
    func asked(_ query: EntryQuery?, _ run: Run) throws -> [PushAccount] {
        if let query { return [try onePush(query, run)] }
        guard push.isEmpty else { return push }
        throw accounts.isEmpty ? ApprovalError.noAccounts : ApprovalError.noSuchAccount(nil)
    }

    /// Returns the account of the given kinds that a text matches, or the only one if no text is given; if there are
    /// several, the user chooses.
    func one(
        _ query: EntryQuery?, of kinds: [ApprovalAccount.Kind], _ what: String, _ run: Run
    ) throws -> ApprovalAccount {
        let found: [ApprovalAccount]
        do { found = try accounts(matching: query?.text, of: kinds) } catch {
            throw Explanation(
                "no-such-account", .notFound,
                query.map { "no account \(what) matches '\($0.printable)'" } ?? "the store has no account \(what)",
                hint: "'ykit approve accounts' lists them, 'ykit approve open LINK' adds one")
        }
        return try Self.one(found, "\(found.count) accounts \(what) match; choose one", run)
    }

    /// Returns the container that a text matches, or the only container if no text is given.
    func container(_ query: EntryQuery?, _ run: Run) throws -> ContainerAccount {
        let account = try one(query, of: [.container], "that is a container", run)
        guard let container = ContainerAccount(account) else {
            throw Explanation.malformed("container '\(account.name.printable)' cannot be read")
        }
        return container
    }
}

extension ApprovalAccount: ListedEntry {
    static var choice: String { "which account?" }

    static func unknown(_ query: EntryQuery) -> any Error { ApprovalError.noSuchAccount(query.text) }

    static func several(_ query: EntryQuery, _ found: [ApprovalAccount]) -> Explanation {
        several("several accounts match '\(query.printable)'", found)
    }

    fileprivate static func several(_ message: String, _ found: [ApprovalAccount]) -> Explanation {
        Explanation(
            "several-accounts", .severalDevices, message,
            candidates: found.map { "\($0.name.printable)  \($0.id.printable)" })
    }
}

/// The history: an append-only file of JSON lines next to the store.
struct HistoryFile: ApprovalLog {
    let path: String
    private let store: StoreFile

    init(_ store: StoreFile) {
        self.store = store
        let name = store.path.hasSuffix(".json") ? String(store.path.dropLast(5)) : store.path
        path = name + "-history.jsonl"
    }

    /// Reads the history.
    func read() throws(Explanation) -> ApprovalHistory {
        guard access(path, F_OK) == 0 else { return ApprovalHistory(parsing: []) }
        return ApprovalHistory(parsing: try Files.read(path))
    }

    /// Whether lines are missing at the end, according to the hash of the last line in the store.
    func isCut(_ history: ApprovalHistory, _ store: SealedStore) -> Bool {
        store.settings["historyHead"]?.string != history.head
    }

    /// Appends a line, with the store locked.
    func append(_ event: ApprovalEvent) throws {
        var failure: Explanation?
        try store.update { store throws(StoreError) in
            do throws(Explanation) {
                var history = try read()
                let isPruned = history.prune(at: event.time)
                let line = history.append(event, after: store.settings["historyHead"]?.string)
                if isPruned {
                    try Files.write(Array((history.lines.joined(separator: "\n") + "\n").utf8), to: path)
                } else {
                    try add(line)
                }
                store.settings["historyHead"] = history.head.map(JSONValue.string)
            } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private func add(_ line: String) throws(Explanation) {
        let descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Files.failure("cannot open", path) }
        defer { close(descriptor) }
        // Ends a truncated line, so that it does not corrupt this one too.
        var last = UInt8(ascii: "\n")
        let size = lseek(descriptor, 0, SEEK_END)
        if size > 0 { _ = pread(descriptor, &last, 1, size - 1) }
        do {
            let start = last == UInt8(ascii: "\n") ? "" : "\n"
            try NewFile.write(Array((start + line + "\n").utf8), to: descriptor, path)
        } catch { throw Explanation(error) }
        fsync(descriptor)
    }
}

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
            guard store.seals == known else { throw .file(.inUse(path: book.file.path)) }
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
            guard store.seals == known else { throw .file(.inUse(path: book.file.path)) }
            store.add(made)
        }
        book = try AccountStore(book.file)
    }
}
