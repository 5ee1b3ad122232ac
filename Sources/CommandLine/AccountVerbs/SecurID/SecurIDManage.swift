// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKFIDO
import YKKeys
import YKSecurID
import YKStore
import YKTokenStore
import YKTransport
import YKWire

/// Lists tokens.
struct SecurIDList: Verb {
    static let about = About(
        "list", "List the tokens; no key is needed for that.", members: ["tokens", "current", "store"])

    @OptionGroup var path: StorePathOptions

    func answer(in world: World) async throws -> Answer {
        let store = try path.tokens(world)
        let tokens = store.tokens
        let now = world.now
        let rows = tokens.map { token in
            let isExpired = token.isExpired(at: now)
            return [
                token.serial == store.current ? "*" : " ", token.serial, (token.nickname ?? "").printable,
                token.type.rawValue, "\(token.digits) digits", "\(token.interval) s",
                (isExpired ? "expired " : "expires ") + (token.expiry?.description ?? "never"),
            ]
        }
        if tokens.isEmpty { world.terminal.note("no tokens yet; import one with: ykit securid import FILE") }
        return Answer(
            Table.lines(rows),
            [
                "tokens": .array(tokens.map { $0.listed(current: store.current, at: now) }),
                "current": store.current.map(JSONValue.string) ?? .null, "store": .string(store.file.path),
            ])
    }
}

/// Shows a token.
struct SecurIDShow: Verb {
    static let about = About("info", "Show what is known of a token, without its seed.", members: ["token"])

    @Argument("token", help: "Which token: its serial number, its nickname, or a part of one.") var token: String?

    @OptionGroup var path: StorePathOptions

    func answer(in world: World) async throws -> Answer {
        let store = try path.tokens(world)
        let found = try store.one(token, world)
        let rows = [
            ["serial", found.serial], ["nickname", (found.nickname ?? "-").printable],
            ["type", found.type.rawValue], ["digits", "\(found.digits)"], ["interval", "\(found.interval) s"],
            ["expires", found.expiry.map { "\($0) 00:00 UTC" } ?? "never"], ["user", (found.user ?? "-").printable],
            ["device", (found.deviceID ?? "-").printable],
        ]
        return Answer(Table.details(rows), ["token": found.listed(current: store.current, at: world.now)])
    }
}

/// Selects the current token.
struct SecurIDUse: Verb {
    static let about = About("use", "Choose the token that 'code' uses when none is named.", members: ["serial"])

    @Argument("token", help: "Which token: its serial number, its nickname, or a part of one.") var token: String

    @OptionGroup var path: StorePathOptions

    func answer(in world: World) async throws -> Answer {
        let store = try path.tokens(world)
        let found = try store.one(token, world)
        if world.plan == nil { try store.use(found) }
        return Answer("\(found.name) is the current token", ["serial": .string(found.serial)])
    }
}

/// Gives a token a nickname.
struct SecurIDRename: Verb {
    static let about = About(
        "rename", "Give a token a nickname of up to 32 characters, or take it away with an empty one.",
        discussion: "The nickname is sealed with the token, so the key is needed.", members: ["serial", "nickname"])

    @Argument("token", help: "Which token: its serial number, its nickname, or a part of one.") var token: String

    @Argument("name", help: "The nickname; '' for none.") var name: String

    @OptionGroup var path: StorePathOptions
    @OptionGroup var key: StoreKeyOptions

    func check() throws {
        guard name.count <= SecurIDLimits.nickname else {
            throw UsageError("a nickname has at most \(SecurIDLimits.nickname) characters")
        }
    }

    func answer(in world: World) async throws -> Answer {
        let store = try path.tokens(world)
        let found = try store.one(token, world)
        let nickname = name.isEmpty ? nil : name
        if let nickname { try store.check(nickname: nickname, for: found.serial) }
        let answer = Answer(
            nickname.map { "token \(found.serial) is called '\($0.printable)'" }
                ?? "token \(found.serial) has no nickname",
            ["serial": .string(found.serial), "nickname": nickname.map(JSONValue.string) ?? .null])
        // Nothing to change needs no key.
        if found.nickname == nickname { return answer }
        let storeKey = try await world.open(store.content, key, for: "open the token store")
        if world.plan == nil { try store.rename(found, nickname, storeKey) }
        return answer
    }
}

/// Deletes a token.
struct SecurIDDelete: Verb {
    static let about = About("delete", "Delete a token. Its seed cannot be recovered.", members: ["serial"])

    @Argument("token", help: "Which token: its serial number, its nickname, or a part of one.") var token: String

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var path: StorePathOptions

    func answer(in world: World) async throws -> Answer {
        let store = try path.tokens(world)
        let found = try store.one(token, world)
        try confirmation.ask("delete token \(found.name)? its seed cannot be recovered", in: world)
        if world.plan == nil { try store.delete(found) }
        return Answer("deleted token \(found.serial)", ["serial": .string(found.serial)])
    }
}

/// Deletes all tokens and the keys of the store.
struct SecurIDReset: Verb {
    static let about = About(
        "reset", "Delete all tokens and the store's keys.",
        discussion: """
            Credentials that the key itself stores (--discoverable) and keys in the keyring are deleted there, after which \
            no copy of the file can be opened with them. For other keys an old copy of the file, together with the key, still gives the tokens: \
            destroy the copies, or reset the key's FIDO application.
            """, members: ["tokens", "keys", "copiesReadable"])

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var path: StorePathOptions
    @OptionGroup var key: StoreKeyOptions

    func answer(in world: World) async throws -> Answer {
        let store = try path.tokens(world)
        let seals = store.content.seals
        let (tokens, keys) = (store.tokens.count, seals.count)
        try confirmation.ask(
            typing: "reset", "this deletes \(tokens) token\(tokens == 1 ? "" : "s") and the keys of the store",
            in: world)
        let stored = seals.filter { if case .fido(_, _, _, true) = $0.means { true } else { false } }
        if !stored.isEmpty {
            let service = try await world.openFIDO(key.pin, for: "delete the store's credential")
            try await StoreAuthenticator(service, world.environment.random).delete(stored)
        }
        if world.plan == nil { try store.clear() }
        let forgotten = world.plan == nil ? try world.storeKeyring?.forget(seals) ?? 0 : 0
        let isReadable = stored.count + forgotten < keys
        if isReadable {
            world.terminal.warn("old copies of the file can still be opened with the keys that opened them")
        }
        return Answer(
            "all tokens are deleted; the next import makes a new key",
            ["tokens": .int(Int64(tokens)), "keys": .int(Int64(keys)), "copiesReadable": .bool(isReadable)])
    }
}

/// Shows the binding identifier.
struct SecurIDBindingID: Verb {
    static let about = About(
        "binding-id", "Show this installation's binding identifier for token issuers.",
        discussion: "It is made once, 24 hexadecimal digits, and kept in the store, also by 'reset'.",
        members: ["bindingId"])

    @OptionGroup var path: StorePathOptions

    func answer(in world: World) async throws -> Answer {
        let store = try path.tokens(world)
        let random = world.environment.random
        let known = store.bindingID.flatMap { DeviceBinding.isID($0) ? $0 : nil }
        let id = try known ?? (world.plan == nil ? store.makeBindingID(random) : DeviceBinding.makeID(random))
        return Answer(id, ["bindingId": .string(id)])
    }
}

/// Shows what this implementation supports.
struct SecurIDVersion: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "version", "Show the version, and the token formats that it reads and writes.",
        members: ["version", "reads", "writes"])

    func answer(in world: World) async throws -> Answer {
        let reads = ["ctf-v1", "ctf-v2", "ctf-v3", "ctf-v4", "sdtid", "stokenrc", "ctkip", "qr"]
        let writes = ["ctf-v3", "ctf-v4", "sdtid", "qr"]
        return Answer(
            [
                "ykit \(Program.version)", "reads " + reads.joined(separator: " "),
                "writes " + writes.joined(separator: " "),
            ],
            [
                "version": .string(Program.version), "reads": .array(reads.map(JSONValue.string)),
                "writes": .array(writes.map(JSONValue.string)),
            ])
    }
}
