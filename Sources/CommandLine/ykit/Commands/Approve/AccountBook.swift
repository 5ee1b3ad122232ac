// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
import YKApproval
import YKCrypto
import YKStore
import YKTransport
import YKWire

/// The location of the account store.
struct ApproveStoreOptions: ParsableArguments {
    static let title = "Store Options"

    @Option("--store <file>", help: "The store of accounts (default: $XDG_DATA_HOME/ykit/approve.json).")
    var store: String?

    /// The store's file; the folder of the default one is created.
    func file(_ world: World) throws -> StoreFile {
        let file = try StoreFile(
            store ?? StorePathOptions.usual("approve.json"), service: ApprovalStore.service)
        if file.isExposed { world.terminal.warn("others can read \(file.path.printable); run: chmod 600 on it") }
        return file
    }

    /// Reads the accounts.
    func book(_ world: World) throws -> AccountBook { try AccountBook(file(world)) }
}

/// The accounts of a store, and their history.
struct AccountBook {
    let file: StoreFile
    let store: SealedStore
    let accounts: [ApprovalAccount]

    init(_ file: StoreFile) throws(StoreError) {
        self.file = file
        store = try file.read()
        accounts = try ApprovalStore.accounts(of: store, path: file.path)
    }

    /// The accounts that approve requests.
    var push: [PushAccount] { accounts.compactMap { PushAccount($0) } }

    /// The number of accounts, for people.
    var countText: String { accounts.count == 1 ? "1 account" : "\(accounts.count) accounts" }

    /// Whether the server refused the account's signature last time: the account may have been deleted there.
    func isGone(_ account: ApprovalAccount) -> Bool { store.settings["gone"]?[account.id] != nil }

    /// Remembers whether the server refused an account's signature, and since when.
    func mark(_ account: ApprovalAccount, isGone: Bool, at time: Int64) throws {
        guard isGone != self.isGone(account) else { return }
        try file.update { store throws(StoreError) in
            var marks = store.settings["gone"]?.object ?? JSONValue.Object()
            marks[account.id] = isGone ? .int(time) : nil
            store.settings["gone"] = .object(marks)
        }
    }

    /// The history's file.
    var history: HistoryFile { HistoryFile(file) }

    /// Returns the account that a text names, or the only account if there is no text; the user chooses among several.
    func one(_ query: String?, _ world: World) throws -> ApprovalAccount {
        let found = query.map { ApprovalStore.matches($0, in: accounts) } ?? accounts
        guard !found.isEmpty else { throw accounts.isEmpty ? Self.isEmpty : Self.none(query) }
        return try Self.one(
            found,
            query.map { "several accounts match '\($0.printable)'" }
                ?? "the store has \(found.count) accounts, name one", world)
    }

    /// Returns the only account, or the one that the user chooses among several.
    static func one(_ found: [ApprovalAccount], _ message: String, _ world: World) throws -> ApprovalAccount {
        if found.count == 1 { return found[0] }
        let failure = Explanation(
            "several-accounts", .severalDevices, message,
            candidates: found.map { "\($0.name.printable)  \($0.id.printable)" })
        return found[try world.choose("which account?", among: failure.candidates, orElse: failure)]
    }

    /// Returns the push account that a text names, or the only push account if there is no text.
    func onePush(_ query: String?, _ world: World) throws -> PushAccount {
        let push = push.map(\.account)
        let account =
            query == nil && !push.isEmpty
            ? try Self.one(push, "the store has \(push.count) accounts, name one", world) : try one(query, world)
        guard let push = PushAccount(account) else { throw Self.notPush(account) }
        return push
    }

    /// Returns the push accounts to poll: the named one, or all.
    func asked(_ query: String?, _ world: World) throws -> [PushAccount] {
        if let query { return [try onePush(query, world)] }
        guard !push.isEmpty else { throw accounts.isEmpty ? Self.isEmpty : Self.none(nil) }
        return push
    }

    private static var isEmpty: Explanation {
        Explanation(
            "no-such-account", .notFound, "the store has no accounts",
            hint: "'ykit approve enroll' and 'ykit approve open' add one")
    }

    private static func none(_ query: String?) -> Explanation {
        Explanation(
            "no-such-account", .notFound,
            query.map { "no account matches '\($0.printable)'" } ?? "the store has no account for this",
            hint: "'ykit approve accounts' lists them, 'ykit approve enroll' adds one")
    }

    private static func notPush(_ account: ApprovalAccount) -> Explanation {
        Explanation(
            "not-push", .usage, "account '\(account.name.printable)' is of kind \(account.kind.rawValue), not push")
    }
}

/// The history: an append-only file of JSON lines next to the store.
struct HistoryFile {
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
        // A line that was cut off is ended, so that it does not take this one with it.
        var last = UInt8(ascii: "\n")
        let size = lseek(descriptor, 0, SEEK_END)
        if size > 0 { _ = pread(descriptor, &last, 1, size - 1) }
        do {
            let start = last == UInt8(ascii: "\n") ? "" : "\n"
            try NewFile.write(Array((start + line + "\n").utf8), to: descriptor, path)
        } catch { throw Files.explained(error) }
        fsync(descriptor)
    }
}
