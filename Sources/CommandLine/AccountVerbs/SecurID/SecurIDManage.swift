// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKFIDO
import YKKeys
import YKSecurID
import YKStore
import YKTokenStore
import YKTransport
import YKWire

/// The tokens of a store.
struct TokenList: Report {
    let tokens: [TokenReport]
    let current: String?
    let store: String

    static let members: [Member<TokenList>] = [
        Member("tokens") { $0.tokens },
        Member("currentSerial") { $0.current },
        Member("store") { $0.store },
    ]
}

/// Lists tokens.
struct SecurIDList: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "list", "List the tokens. Needs no key.",
        examples: [Example("ykit securid list")])

    @OptionGroup var path: StorePathOptions

    func run(in run: Run) async throws -> Outcome<TokenList> {
        let store = try path.tokens(run)
        let now = run.now
        let tokens = store.tokens.map { TokenReport($0, in: store, at: now) }
        let rows = tokens.map { listed in
            let token = listed.token
            return [
                listed.isCurrent ? "*" : " ", token.serial, (token.nickname ?? "").printable,
                token.type.rawValue, "\(token.digits) digits", "\(token.interval) s",
                (listed.isExpired ? "expired " : "expires ") + (token.expiry?.description ?? "never"),
            ]
        }
        if tokens.isEmpty { run.terminal.note("no tokens yet; import one with: ykit securid import FILE") }
        return Outcome(
            TokenList(tokens: tokens, current: store.current, store: store.file.path), Table.lines(rows))
    }
}

/// What is known about a token.
struct ShownToken: Report {
    let token: TokenReport

    static let members: [Member<ShownToken>] = [Member("token") { $0.token }]
}

/// Shows a token.
struct SecurIDShow: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "info", "Show the details of a token, without its seed.",
        examples: [Example("ykit securid info work")])

    @Argument("token", help: "The token: its serial number, its nickname, or part of one.") var token: EntryQuery?

    @OptionGroup var path: StorePathOptions

    func run(in run: Run) async throws -> Outcome<ShownToken> {
        let store = try path.tokens(run)
        let found = try store.one(token, run)
        let rows = [
            ["serial", found.serial], ["nickname", (found.nickname ?? "-").printable],
            ["type", found.type.rawValue], ["digits", "\(found.digits)"], ["interval", "\(found.interval) s"],
            ["expires", found.expiry.map { "\($0) 00:00 UTC" } ?? "never"], ["user", (found.user ?? "-").printable],
            ["device", (found.deviceID ?? "-").printable],
        ]
        return Outcome(ShownToken(token: TokenReport(found, in: store, at: run.now)), Table.details(rows))
    }
}

/// A token that was chosen or deleted.
struct TokenSerial: Report {
    let serial: String

    static let members: [Member<TokenSerial>] = [Member("serial") { $0.serial }]
}

/// Selects the current token.
struct SecurIDUse: Verb {
    static let uses: GlobalUse = .plan
    static let about = About(
        "use", "Choose the token that 'code' uses by default.",
        examples: [Example("ykit securid use work")])

    @Argument("token", help: "The token: its serial number, its nickname, or part of one.") var token: EntryQuery

    @OptionGroup var path: StorePathOptions

    func run(in run: Run) async throws -> Outcome<TokenSerial> {
        let store = try path.tokens(run)
        let found = try store.one(token, run)
        try run.endPlan("make \(found.name) the current token")
        try store.use(found)
        return Outcome(TokenSerial(serial: found.serial), "\(found.name) is the current token")
    }
}

/// A token that was renamed.
struct RenamedToken: Report {
    let serial: String
    let nickname: String?

    static let members: [Member<RenamedToken>] = [
        Member("serial") { $0.serial },
        Member("nickname") { $0.nickname },
    ]
}

/// Gives a token a nickname.
struct SecurIDRename: Verb {
    static let about = About(
        "rename", "Give a token a nickname of up to 32 characters, or remove it with an empty one.",
        discussion: "The nickname is sealed with the token, so the key is needed.",
        examples: [Example("ykit securid rename work office")])

    @Argument("token", help: "The token: its serial number, its nickname, or part of one.") var token: EntryQuery

    @Argument("name", help: "The nickname; '' for none.") var name: String

    @OptionGroup var path: StorePathOptions
    @OptionGroup var key: StoreKeyOptions

    func check() throws {
        guard name.count <= SecurIDLimits.nickname else {
            throw UsageError("a nickname must have at most \(SecurIDLimits.nickname) characters")
        }
    }

    func run(in run: Run) async throws -> Outcome<RenamedToken> {
        let store = try path.tokens(run)
        let nickname = name.isEmpty ? nil : name
        let found = try run.entry(toChange: token, in: try store.all(), .forPart) {
            "change the nickname of token \($0.name)?"
        }
        if let nickname { try store.check(nickname: nickname, for: found.serial) }
        let outcome = Outcome(
            RenamedToken(serial: found.serial, nickname: nickname),
            nickname.map { "token \(found.serial) is called '\($0.printable)'" }
                ?? "token \(found.serial) has no nickname")
        // If nothing changes, no key is needed.
        if found.nickname == nickname { return outcome }
        let storeKey = try await run.open(store.content, key, for: "open the token store")
        try run.endPlan("change the nickname of token \(found.serial)")
        try store.rename(found, nickname, storeKey)
        return outcome
    }
}

/// Deletes a token.
struct SecurIDDelete: Verb {
    static let uses: GlobalUse = .plan
    static let about = About(
        "delete", "Delete a token. Its seed cannot be recovered.",
        examples: [Example("ykit securid delete work")])

    @Argument("token", help: "The token: its serial number, its nickname, or part of one.") var token: EntryQuery

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var path: StorePathOptions

    func run(in run: Run) async throws -> Outcome<TokenSerial> {
        let store = try path.tokens(run)
        let found = try run.entry(toChange: token, in: try store.all(), .always(unless: confirmation)) {
            "the seed of token \($0.name) would be permanently lost: delete it?"
        }
        try run.endPlan("delete token \(found.serial) from \(store.file.path.printable)")
        try store.delete(found)
        return Outcome(TokenSerial(serial: found.serial), "deleted token \(found.serial)")
    }
}

/// What a store held before its reset.
struct ClearedTokens: Report {
    let tokens: Int
    let keys: Int
    let isReadable: Bool

    static let members: [Member<ClearedTokens>] = [
        Member("tokenCount", "how many there were") { $0.tokens },
        Member("keyCount", "how many there were") { $0.keys },
        Member("copiesReadable", "whether a key still opens copies of the file") { $0.isReadable },
    ]
}

/// Deletes all tokens and the keys of the store.
struct SecurIDReset: Verb {
    static let about = About(
        "reset", "Delete all tokens and the store's keys.",
        discussion: """
            Credentials that the key itself stores (--discoverable) and keys in the keyring are deleted there; copies \
            of the file can then no longer be opened with them. Other keys can still open old copies of the file: \
            destroy the copies, or reset the key's FIDO application.
            """,
        examples: [Example("ykit securid reset")])

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var path: StorePathOptions
    @OptionGroup var key: StoreKeyOptions

    func run(in run: Run) async throws -> Outcome<ClearedTokens> {
        let store = try path.tokens(run)
        let seals = store.content.seals
        let (tokens, keys) = (store.tokens.count, seals.count)
        try confirmation.ask(
            typing: "reset", "this deletes \(tokens) token\(tokens == 1 ? "" : "s") and the keys of the store",
            in: run)
        let stored = seals.filter { if case .fido(_, _, _, true) = $0.means { true } else { false } }
        if !stored.isEmpty {
            let service = try await run.openFIDO(key.pin, for: "delete the store's credential")
            try await StoreAuthenticator(service, run.environment.random).delete(stored)
        }
        try run.endPlan("delete all tokens and keys in \(store.file.path.printable)")
        try store.clear()
        let forgotten = try run.storeKeyring?.forget(seals) ?? 0
        let isReadable = stored.count + forgotten < keys
        if isReadable {
            run.terminal.warn("old-copies", "old copies of the file can still be opened with the keys that opened them")
        }
        return Outcome(
            ClearedTokens(tokens: tokens, keys: keys, isReadable: isReadable),
            "all tokens deleted; the next import generates a new key")
    }
}

/// The binding identifier.
struct BindingIdentifier: Report {
    let id: String

    static let members: [Member<BindingIdentifier>] = [Member("bindingId") { $0.id }]
}

/// Shows the binding identifier.
struct SecurIDBindingID: Verb {
    static let uses: GlobalUse = .plan
    static let about = About(
        "binding-id", "Show this installation's binding identifier for token issuers.",
        discussion: "It is generated once, as 24 hexadecimal digits, and kept in the store, even by 'reset'.",
        examples: [Example("ykit securid binding-id")])

    @OptionGroup var path: StorePathOptions

    func run(in run: Run) async throws -> Outcome<BindingIdentifier> {
        let store = try path.tokens(run)
        let random = run.environment.random
        let known = store.bindingID.flatMap { DeviceBinding.isID($0) ? $0 : nil }
        try run.endPlan(
            known.map { "show the binding identifier \($0)" }
                ?? "generate a binding identifier, and store it in \(store.file.path.printable)")
        let id = try known ?? store.makeBindingID(random)
        return Outcome(BindingIdentifier(id: id), id)
    }
}

/// The token formats of this implementation.
struct TokenFormats: Report {
    let reads = ["ctf-v1", "ctf-v2", "ctf-v3", "ctf-v4", "sdtid", "stokenrc", "ctkip", "qr"]
    let writes = ["ctf-v3", "ctf-v4", "sdtid", "qr"]

    static let members: [Member<TokenFormats>] = [
        Member("version") { _ in Program.version },
        Member("reads") { $0.reads },
        Member("writes") { $0.writes },
    ]
}

/// Shows what this implementation supports.
struct SecurIDVersion: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "version", "Show the version, and the token formats that it reads and writes.",
        examples: [Example("ykit securid version")])

    func run(in run: Run) async throws -> Outcome<TokenFormats> {
        let formats = TokenFormats()
        return Outcome(
            formats,
            [
                "ykit \(Program.version)", "reads " + formats.reads.joined(separator: " "),
                "writes " + formats.writes.joined(separator: " "),
            ])
    }
}
