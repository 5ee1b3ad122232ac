// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKApproval
import YKCrypto
import YKOATH
import YKPIV
import YKStore
import YKUse
import YKWire

/// Lists accounts.
struct ApproveAccounts: Verb {
    static let about = About(
        "accounts", "List the accounts; neither key nor server is needed for that.",
        discussion: """
            'gone?' marks an account whose signature the server refused last time, although the key and the clock are \
            right: it was probably deleted there. Nothing is deleted here because of that.
            """, members: ["accounts", "store"])

    @OptionGroup var path: ApproveStoreOptions

    func answer(in world: World) async throws -> Answer {
        let book = try path.accounts(world)
        if book.accounts.isEmpty {
            world.terminal.note("no accounts yet; enrol one with: ykit approve enroll LINK")
        }
        let rows = book.accounts.map { account in
            [
                account.name.printable, account.kind.rawValue.printable, account.serial.printable,
                account.server.printable, Self.place(account), "added \(Day.text(account.added))",
                book.isGone(account) ? "gone?" : "",
            ]
        }
        return Answer(
            Table.lines(rows),
            [
                "accounts": .array(book.accounts.map { Self.listed($0, isGone: book.isGone($0)) }),
                "store": .string(book.file.path),
            ])
    }

    private static func place(_ account: ApprovalAccount) -> String {
        guard let place = account.details["key"].flatMap({ ApprovalKeyPlace($0) }) else { return "" }
        guard case .piv(let key) = place else { return "software" }
        return "slot \(key.slot)" + (key.keySerial.map { " of key \($0)" } ?? "") + ", touch \(key.policies.touch)"
    }

    private static func listed(_ account: ApprovalAccount, isGone: Bool) -> JSONValue {
        var object = account.description.object ?? JSONValue.Object()
        object["id"] = .string(account.id)
        object["details"] = nil
        object["key"] = account.details["key"] ?? .null
        object["address"] = account.details["address"] ?? .null
        object["gone"] = .bool(isGone)
        object["require"] = account.details["proof"]?.object == nil ? .null : "uv"
        return .object(object)
    }
}

/// Changes the address for delivered requests.
struct ApproveAddress: AccountKeyVerb {
    static let about = About(
        "address", "Have the server deliver an account's requests to another address.", members: ["account", "address"])

    @Argument("account", help: "Which account: its name, serial number or server, or a part of one.")
    var account: String

    @Argument("address", help: "What the server's gateway takes: a topic, or a URL.") var address: String

    @OptionGroup var key: ApproveKeyOptions
    @OptionGroup var path: ApproveStoreOptions

    func answer(in world: World) async throws -> Answer {
        let book = try path.accounts(world)
        let push = try book.onePush(account, world)
        if let plan = world.plan {
            let text = PushText.address(
                address, serial: push.account.serial, timestamp: UTCDate.timestamp(world.now))
            plan.add("sign '\(text)'", ["then send it to \(push.url)"])
            return Answer()
        }
        let keys = ApproveKeys(world, book, key)
        let opened = try await keys.key(of: push)
        // Checks that the store is writable before the server is informed.
        try book.file.update { _ in }
        let changed = try await world.approver().setAddress(address, push, opened)
        try keys.replace(changed.stored)
        return Answer(
            "requests of '\(push.account.name.printable)' are delivered to \(address.printable)",
            ["account": .string(push.account.id), "address": .string(address)])
    }
}

/// Removes an account.
struct ApproveLogout: AccountKeyVerb {
    static let about = About(
        "logout", "End an account: at the server, on the key, and in the store.",
        discussion: """
            With --user the server is told to delete its token; without it, the token stays there. The private key is \
            deleted from its slot (firmware 5.7 and later), and only if it is the account's own; the secret of an account \
            with codes is deleted from the OATH application. --keep-key leaves both.
            """, members: ["account", "server", "key"])

    @Argument("account", help: "Which account: its name, serial number or server, or a part of one.")
    var account: String

    @OptionGroup var person: ApproveUserOptions

    @Flag("--keep-key", help: "Leave the private key in its slot, or the secret in the OATH application.")
    var keepKey = false

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var managementKey: ManagementKeyOptions
    @OptionGroup var key: ApproveKeyOptions
    @OptionGroup var path: ApproveStoreOptions

    /// The password of the OATH application, asked for or from its variable.
    private var password: PasswordOptions { PasswordOptions() }

    func check() throws {
        try UsageError.check(standardInput: [person.secret.isStandardInput, key.usesStandardInput])
    }

    func answer(in world: World) async throws -> Answer {
        let book = try path.accounts(world)
        let ended = try book.one(account, world)
        try confirmation.ask(
            "end account '\(ended.name.printable)' of \(ended.server.printable)? It must be enrolled again to be used",
            in: world)
        guard world.plan == nil else { return Answer() }
        // Checks that the store is writable before anything is deleted.
        try book.file.update { _ in }
        if let container = ContainerAccount(ended) { return try await leave(container, book, world) }
        if let codes = CodeAccount(ended) { return try await forget(codes, book, world) }
        var isTold = false
        if let user = person.user, let push = PushAccount(ended) {
            guard let base = push.base else { throw Explain.malformed("the account's address is not below /ttype/") }
            let approver = try world.approver()
            let client = try await approver.signIn(base, user: user, try person.password(world), trust: push.trust)
            try await approver.deleteToken(push.account.serial, client)
            isTold = true
        } else {
            world.terminal.warn("the server keeps token \(ended.serial.printable); have it deleted there")
        }
        var fate = "kept"
        if let push = PushAccount(ended) {
            fate =
                keepKey || push.place == .software
                ? (push.place == .software ? "deleted" : "kept")
                : try await SlotCleaning(world, managementKey, key.pin).remove([push]).isEmpty ? "kept" : "deleted"
        }
        try book.file.update { store throws(StoreError) in store.remove(ended.id) }
        return Answer(
            "ended account '\(ended.name.printable)'" + (fate == "kept" ? "; its key was left where it is" : ""),
            ["account": .string(ended.id), "server": .bool(isTold), "key": .string(fate)])
    }
}

extension ApproveLogout {
    /// Removes an account with one-time codes, and deletes its secret from the key's OATH application.
    private func forget(_ codes: CodeAccount, _ book: AccountStore, _ world: World) async throws -> Answer {
        var fate = "kept"
        if !keepKey {
            let service = try await world.oath(password)
            do {
                try await service.delete(codes.id)
                fate = "deleted"
            } catch .noSuchAccount {
                world.terminal.warn("this security key does not have the account's secret; no secret was deleted")
            }
        }
        world.terminal.warn("the server keeps token \(codes.account.serial.printable); have it deleted there")
        try book.file.update { store throws(StoreError) in store.remove(codes.account.id) }
        return Answer(
            "ended account '\(codes.account.name.printable)'"
                + (fate == "kept" ? "; its secret was left where it is" : ""),
            ["account": .string(codes.account.id), "server": false, "key": .string(fate)])
    }
}

/// Deletes the keys of accounts from their slots.
struct SlotCleaning {
    let world: World
    let managementKey: ManagementKeyOptions
    let pin: PINOptions

    init(_ world: World, _ managementKey: ManagementKeyOptions, _ pin: PINOptions) {
        (self.world, self.managementKey, self.pin) = (world, managementKey, pin)
    }

    /// Deletes the keys of accounts from the security key in use if their public keys match; returns the accounts whose
    /// keys were deleted.
    func remove(_ accounts: [PushAccount]) async throws -> [PushAccount] {
        let service = try await world.openPIV()
        let serial = try await service.serial()
        var found: [(PushAccount, PIVSlot)] = []
        for account in accounts {
            guard let slot = account.place.slot, account.place.keySerial == serial,
                (try? await service.metadata(of: slot)?.publicKey) == account.publicKey
            else {
                world.terminal.warn(
                    "the key of account '\(account.account.name.printable)' is not on this security key; it stays where it is"
                )
                continue
            }
            found.append((account, slot))
        }
        guard !found.isEmpty else { return [] }
        guard await service.identity.supports(.moveKey) != false else {
            world.terminal.warn("this firmware cannot delete keys (5.7 and later can); they stay in their slots")
            return []
        }
        var unlocking = world.piv(service, pin, managementKey)
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
        "clear", "Remove all accounts from the store, or their keys from this security key.",
        discussion: "Servers are not told. Slots that ykit made no account's key in are never touched.",
        members: ["accounts", "slots"])

    @Flag("--accounts", help: "Remove all accounts and the history. The word 'clear' has to be typed.") var all = false

    @Flag("--keys", help: "Delete the accounts' keys from this security key (firmware 5.7 and later).") var keys = false

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var managementKey: ManagementKeyOptions
    @OptionGroup var key: ApproveKeyOptions
    @OptionGroup var path: ApproveStoreOptions

    func check() throws { if all == keys { throw UsageError("choose --accounts or --keys") } }

    func answer(in world: World) async throws -> Answer {
        let book = try path.accounts(world)
        var removed: [PushAccount] = []
        if keys {
            let accounts = book.push.filter { $0.place.slot != nil }
            let slots = accounts.compactMap { account in
                account.place.slot.map { "\($0) (\(account.account.name.printable))" }
            }
            guard !slots.isEmpty else {
                throw Explanation("no-such-account", .notFound, "no account of the store has a key in a slot")
            }
            try confirmation.ask(
                typing: "clear", "the keys in slots \(slots.listed()) are deleted for good", in: world)
            guard world.plan == nil else { return Answer() }
            removed = try await SlotCleaning(world, managementKey, key.pin).remove(accounts)
        } else {
            try confirmation.ask(
                typing: "clear", "\(book.countText) and the history are removed for good", in: world)
            guard world.plan == nil else { return Answer() }
            try book.file.update { store throws(StoreError) in
                store.clear()
                store.settings = JSONValue.Object()
            }
            Files.remove(book.history.path)
        }
        let slots = removed.compactMap { $0.place.slot?.description }
        return Answer(
            keys
                ? slots.isEmpty ? "no key was deleted" : "deleted the key in \(slots.listed())"
                : "removed \(book.countText)",
            [
                "accounts": .int(Int64(keys ? 0 : book.accounts.count)), "slots": .array(slots.map(JSONValue.string)),
            ])
    }
}

/// Moves the store.
struct ApproveMoveStore: Verb {
    static let about = About(
        "move-store", "Move the accounts and their history to another file.",
        discussion: "The new file must not exist. Afterwards name it with --store, or set XDG_DATA_HOME.",
        members: ["from", "store", "accounts"])

    @Argument("file", help: "The new file.", completion: .file) var target: String

    @OptionGroup var path: ApproveStoreOptions

    func answer(in world: World) async throws -> Answer {
        let book = try path.accounts(world)
        let new = StoreFile(target, service: ApprovalStore.service)
        let history = HistoryFile(new)
        for path in [target, history.path] where Files.isFile(path) { throw Files.exists(path) }
        guard !book.accounts.isEmpty else {
            throw Explanation("no-such-account", .notFound, "the store has no accounts to move")
        }
        guard world.plan == nil else { return Answer() }
        // Both locks are held while the content moves; the old file is deleted last.
        try book.file.update { store throws(StoreError) in
            let content = store
            do throws(Explanation) {
                if Files.isFile(book.history.path) {
                    try Files.write(try Files.read(book.history.path), to: history.path)
                }
            } catch { throw .unwritable(path: history.path, reason: error.message) }
            try new.update { $0 = content }
            guard try new.read() == content else { throw .unwritable(path: target, reason: "it does not read back") }
        }
        Files.remove(book.file.path)
        Files.remove(book.history.path)
        return Answer(
            "moved \(book.countText) to \(target.printable)",
            [
                "from": .string(book.file.path), "store": .string(target),
                "accounts": .int(Int64(book.accounts.count)),
            ])
    }
}
