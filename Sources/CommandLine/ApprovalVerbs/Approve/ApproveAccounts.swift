// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKApproval
import YKCrypto
import YKOATH
import YKPIV
import YKStore
import YKTransport
import YKUse
import YKWire

/// An account of a store.
struct ListedAccount: Report {
    let account: ApprovalAccount
    let isGone: Bool

    var place: ApprovalKeyPlace? { account.details["key"].flatMap { ApprovalKeyPlace($0) } }

    static let members: [Member<ListedAccount>] = identity + time("added") { $0.account.added } + state

    private static let identity: [Member<ListedAccount>] = [
        Member("id") { $0.account.id },
        Member("kind") { $0.account.kind.rawValue },
        Member("name") { $0.account.name },
        Member("serial") { $0.account.serial },
        Member("issuer") { $0.account.issuer },
        Member("server") { $0.account.server },
    ]

    private static let state: [Member<ListedAccount>] = [
        Member("key") { $0.place.map(KeyPlaceReport.init) },
        Member("address", "where requests are delivered") { $0.account.details["address"]?.string },
        Member("gone", "whether the server refused its signature last time") { $0.isGone },
        Member("require", "uv or null") { $0.account.details["proof"]?.object.map { _ in RequiredProof.uv.rawValue } },
    ]

    var row: [String] {
        [
            account.name.printable, account.kind.rawValue.printable, account.serial.printable,
            account.server.printable, placeWords, "added \(Day.text(account.added))", isGone ? "gone?" : "",
        ]
    }

    private var placeWords: String {
        guard let place else { return "" }
        guard case .piv(let key) = place else { return "software" }
        return "slot \(key.slot)" + (key.keySerial.map { " of key \($0)" } ?? "") + ", touch \(key.policies.touch)"
    }
}

/// Lists accounts.
struct ApproveAccounts: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "List the accounts. Needs neither key nor server.",
        discussion: """
            'gone?' marks an account whose signature the server refused last time, although the key and the clock are \
            right: it was probably deleted there. ykit does not delete it for that reason.
            """,
        examples: [Example("ykit approve accounts")])
    typealias Reported = (accounts: [ListedAccount], store: StoreFile)
    static let answer = Shape<Reported>(
        Member("accounts") { $0.accounts }, Member("store", "its file") { $0.store.path })

    @OptionGroup var path: ApproveStoreOptions

    func run(in run: Run) async throws -> Outcome<Reported> {
        let book = try path.accounts(run)
        if book.accounts.isEmpty {
            run.terminal.note("no accounts yet; to add one: ykit approve enroll LINK")
        }
        let accounts = book.accounts.map { ListedAccount(account: $0, isGone: book.isGone($0)) }
        return Outcome((accounts: accounts, store: book.file), Table.lines(accounts.map(\.row)))
    }
}

/// Changes the address for delivered requests.
struct ApproveAddress: AccountKeyVerb {
    static let about = About(
        "Have the server deliver an account's requests to another address.",
        examples: [Example("ykit approve address work alice-laptop")])
    typealias Reported = (account: ApprovalAccount, address: String)
    static let answer = Shape<Reported>(Member("accountId") { $0.account.id }, Member("address") { $0.address })

    @Argument("account", help: "The account: its name, serial number or server, or part of one.")
    var account: EntryQuery

    @Argument("address", help: "An address for the server's gateway: a topic or a URL.") var address: String

    @OptionGroup var key: ApproveKeyOptions
    @OptionGroup var path: ApproveStoreOptions

    func run(in run: Run) async throws -> Outcome<Reported> {
        let book = try path.accounts(run)
        let found = try run.entry(toChange: account, in: try book.accounts(matching: nil), .forPart) {
            "deliver the requests of '\($0.name.printable)' to \(address.printable)?"
        }
        let push = try AccountStore.push(found)
        let text = PushText.address(address, serial: push.account.serial, timestamp: UTCDate.timestamp(run.now))
        try run.endPlan("sign '\(text)'", ["then send it to \(push.url)"])
        let keys = ApproveKeys(run, book, key)
        let opened = try await keys.key(of: push)
        // Checks that the store is writable before the server is informed.
        try book.file.update { _ in }
        let changed = try await run.approver().setAddress(address, push, opened)
        try keys.replace(changed.stored)
        return Outcome(
            (account: push.account, address: address),
            "requests of '\(push.account.name.printable)' are delivered to \(address.printable)")
    }
}

/// Removes an account.
struct ApproveLogout: AccountKeyVerb {
    static let about = About(
        "Remove an account: at the server, on the key, and from the store.",
        discussion: """
            With --user the server also deletes its token; without it, the token stays. The private key is deleted \
            from its slot (firmware 5.7 and later), and only if it is the account's own; the secret of an account with \
            codes is deleted from the OATH application. --keep-key leaves both.
            """,
        examples: [Example("ykit approve logout work")])
    typealias Reported = (account: ApprovalAccount, isTold: Bool, isDeleted: Bool)
    static let answer = Shape<Reported>(
        Member("accountId") { $0.account.id }, Member("serverInformed") { $0.isTold },
        Member("keyDeleted") { $0.isDeleted })

    @Argument("account", help: "The account: its name, serial number or server, or part of one.")
    var account: EntryQuery

    @OptionGroup var person: ApproveUserOptions

    @Flag("--keep-key", help: "Leave the private key in its slot, or the secret in the OATH application.")
    var keepKey = false

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var managementKey: ManagementKeyOptions
    @OptionGroup var key: ApproveKeyOptions
    @OptionGroup var path: ApproveStoreOptions

    /// The password of the OATH application, from a prompt or its environment variable.
    private var password: PasswordOptions { PasswordOptions() }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let book = try path.accounts(run)
        let all = try book.accounts(matching: nil)
        let ended = try run.entry(toChange: account, in: all, .always(unless: confirmation)) {
            "account '\($0.name.printable)' of \($0.server.printable) would have to be enrolled again: remove it?"
        }
        try run.endPlan("remove account '\(ended.name.printable)' from \(book.file.path.printable)")
        // Checks that the store is writable before anything is deleted.
        try book.file.update { _ in }
        if let container = ContainerAccount(ended) { return try await leave(container, book, run) }
        if let codes = CodeAccount(ended) { return try await forget(codes, book, run) }
        var isTold = false
        if let user = person.user, let push = PushAccount(ended) {
            guard let base = push.base else {
                throw Explanation.malformed("the account's address is not below /ttype/")
            }
            let approver = try run.approver()
            let client = try await approver.signIn(base, user: user, try person.password(run), trust: push.trust)
            try await approver.deleteToken(push.account.serial, client)
            isTold = true
        } else {
            run.terminal.warn("token-kept", "the server keeps token \(ended.serial.printable); have it deleted there")
        }
        var isDeleted = false
        if let push = PushAccount(ended) {
            isDeleted = push.place == .software
            if !isDeleted, !keepKey {
                isDeleted = try await !SlotCleaning(run: run, managementKey: managementKey, pin: key.pin).remove([push])
                    .isEmpty
            }
        }
        try book.file.update { store throws(StoreError) in store.remove(ended.id) }
        return Outcome(
            (account: ended, isTold: isTold, isDeleted: isDeleted),
            "removed account '\(ended.name.printable)'" + (isDeleted ? "" : "; its key was left where it is"))
    }

    /// Removes an account with one-time codes, and deletes its secret from the key's OATH application.
    private func forget(
        _ codes: CodeAccount, _ book: AccountStore, _ run: Run
    ) async throws -> Outcome<Reported> {
        var isDeleted = false
        if !keepKey {
            let service = try await run.oath(password)
            do {
                try await service.delete(codes.id)
                isDeleted = true
            } catch .noSuchAccount {
                run.terminal.warn(
                    "no-secret", "this security key does not have the account's secret; no secret was deleted")
            }
        }
        run.terminal.warn(
            "token-kept", "the server keeps token \(codes.account.serial.printable); have it deleted there")
        try book.file.update { store throws(StoreError) in store.remove(codes.account.id) }
        return Outcome(
            (account: codes.account, isTold: false, isDeleted: isDeleted),
            "removed account '\(codes.account.name.printable)'" + (isDeleted ? "" : "; its secret was left where it is")
        )
    }
}

/// Deletes the keys of accounts from their slots.
struct SlotCleaning {
    let run: Run
    let managementKey: ManagementKeyOptions
    let pin: PINOptions

    /// Deletes the keys of accounts from the security key in use if their public keys match; returns the accounts whose
    /// keys were deleted.
    func remove(_ accounts: [PushAccount]) async throws -> [PushAccount] {
        let service = try await run.openPIV()
        let serial = try await service.serial()
        var found: [(PushAccount, PIVSlot)] = []
        for account in accounts {
            guard let slot = account.place.slot, account.place.keySerial == serial,
                try await unlessRefused({ try await service.metadata(of: slot)?.publicKey }) == account.publicKey
            else {
                run.terminal.warn(
                    "other-key",
                    "the key of account '\(account.account.name.printable)' is not on this security key; it stays where it is"
                )
                continue
            }
            found.append((account, slot))
        }
        guard !found.isEmpty else { return [] }
        guard await service.identity.supports(.moveKey) != false else {
            run.terminal.warn(
                "keys-kept", "this firmware cannot delete keys (5.7 and later can); they stay in their slots")
            return []
        }
        let unlocking = run.piv(service, pin, managementKey)
        try await unlocking.manage(for: "delete the key of an account")
        var removed: [PushAccount] = []
        for (account, slot) in found where await PIVApprovalKey.remove(slot, account.publicKey, service) {
            removed.append(account)
        }
        return removed
    }
}

/// Removes all accounts, or their keys.
struct ApproveClear: AccountKeyVerb {
    static let about = About(
        "Remove all accounts from the store, or their keys from this security key.",
        discussion:
            "Servers are not notified. Slots in which ykit did not generate an account's key are never changed.",
        examples: [Example("ykit approve clear --accounts")])
    typealias Reported = (count: Int, slots: [PIVSlot])
    static let answer = Shape<Reported>(
        Member("accountCount", "how many were removed") { $0.count },
        Member("deletedSlots") { $0.slots.map(\.description) })

    @Flag("--accounts", help: "Remove all accounts and the history. The word 'clear' must be typed.") var all = false

    @Flag("--keys", help: "Delete the accounts' keys from this security key (firmware 5.7 and later).") var keys = false

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var managementKey: ManagementKeyOptions
    @OptionGroup var key: ApproveKeyOptions
    @OptionGroup var path: ApproveStoreOptions

    func check() throws { if all == keys { throw UsageError("choose --accounts or --keys") } }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let book = try path.accounts(run)
        var removed: [PushAccount] = []
        if keys {
            let accounts = book.push.filter { $0.place.slot != nil }
            let slots = accounts.compactMap { account in
                account.place.slot.map { "\($0) (\(account.account.name.printable))" }
            }
            guard !slots.isEmpty else {
                throw Explanation("no-such-account", .notFound, "no account in the store has a key in a slot")
            }
            try confirmation.ask(
                typing: "clear", "this permanently deletes the keys in slots \(slots.listed())", in: run)
            try run.endPlan("delete the keys in slots \(slots.listed())")
            removed = try await SlotCleaning(run: run, managementKey: managementKey, pin: key.pin).remove(accounts)
        } else {
            try confirmation.ask(
                typing: "clear", "this permanently removes \(book.countText) and the history", in: run)
            try run.endPlan("remove \(book.countText) and the history from \(book.file.path.printable)")
            try book.file.update { store throws(StoreError) in
                store.clear()
                store.settings = JSONValue.Object()
            }
            Files.remove(book.history.path)
        }
        let slots = removed.compactMap(\.place.slot)
        return Outcome(
            (count: keys ? 0 : book.accounts.count, slots: slots),
            keys
                ? slots.isEmpty ? "no key was deleted" : "deleted the key in \(slots.map(\.description).listed())"
                : "removed \(book.countText)")
    }
}

/// Moves the store.
struct ApproveMoveStore: Verb {
    static let uses: GlobalUse = .plan
    static let about = About(
        "Move the accounts and their history to another file.",
        discussion: "The new file must not exist. Afterwards, select it with --store, or set XDG_DATA_HOME.",
        examples: [Example("ykit approve move-store accounts.json")])
    typealias Reported = (book: AccountStore, target: String)
    static let answer = Shape<Reported>(
        Member("from") { $0.book.file.path }, Member("store", "the new file") { $0.target },
        Member("accountCount") { $0.book.accounts.count })

    @Argument("file", help: "The new file.", completion: .file) var target: String

    @OptionGroup var path: ApproveStoreOptions

    func run(in run: Run) async throws -> Outcome<Reported> {
        let book = try path.accounts(run)
        let new = StoreFile(target, service: ApprovalStore.service)
        let history = HistoryFile(new)
        for path in [target, history.path] where Files.isFile(path) { throw Explanation.exists(path) }
        guard !book.accounts.isEmpty else {
            throw Explanation("no-such-account", .notFound, "the store has no accounts to move")
        }
        try run.endPlan("move \(book.countText) and the history to \(target.printable)")
        // Both locks are held while the content moves; the old file is deleted last.
        var problem: Explanation?
        try book.file.update { store throws(StoreError) in
            let content = store
            do throws(Explanation) {
                if Files.isFile(book.history.path) {
                    try Files.write(try Files.read(book.history.path), to: history.path)
                }
            } catch {
                return problem = Explanation(
                    "store", .failed, "cannot write \(history.path.printable): \(error.message)")
            }
            try new.update { $0 = content }
            guard try new.read() == content else {
                return problem = Explanation(
                    "store", .failed, "cannot write \(target.printable): it cannot be read back")
            }
        }
        if let problem { throw problem }
        Files.remove(book.file.path)
        Files.remove(book.history.path)
        return Outcome(
            (book: book, target: target), "moved \(book.countText) to \(target.printable)")
    }
}
