// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKKeys
import YKSecurID
import YKStore
import YKTokenStore
import YKTransport
import YKWire

/// Lists tokens.
struct SecurIDList: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "List the tokens. Needs no key.",
        examples: [Example("ykit securid list")])
    typealias Reported = (tokens: [TokenReport], store: TokenStore)
    static let answer = Shape<Reported>(
        Member("tokens") { $0.tokens }, Member("currentSerial") { $0.store.current },
        Member("store") { $0.store.file.path })

    @OptionGroup var path: StorePathOptions

    func run(in run: Run) async throws -> Outcome<Reported> {
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
        return Outcome((tokens: tokens, store: store), Table.lines(rows))
    }
}

/// Shows a token.
struct SecurIDShow: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "Show the details of a token, without its seed.",
        examples: [Example("ykit securid info work")])
    static let answer = Shape(Item<TokenReport>("token"))

    @Argument("token", help: "The token: its serial number, its nickname, or part of one.") var token: EntryQuery?

    @OptionGroup var path: StorePathOptions

    func run(in run: Run) async throws -> Outcome<TokenReport> {
        let store = try path.tokens(run)
        let report = TokenReport(try store.one(token, run), in: store, at: run.now)
        return Outcome(report, report.details)
    }
}

/// Selects the current token.
struct SecurIDUse: Verb {
    static let uses: GlobalUse = .plan
    static let about = About(
        "Choose the token that 'code' uses by default.",
        examples: [Example("ykit securid use work")])
    static let answer = Shape(Item<String>("serial"))

    @Argument("token", help: "The token: its serial number, its nickname, or part of one.") var token: EntryQuery

    @OptionGroup var path: StorePathOptions

    func run(in run: Run) async throws -> Outcome<String> {
        let store = try path.tokens(run)
        let found = try store.one(token, run)
        try run.endPlan("make \(found.name) the current token")
        try store.use(found)
        return Outcome(found.serial, "\(found.name) is the current token")
    }
}

/// Gives a token a nickname.
struct SecurIDRename: Verb {
    static let about = About(
        "Give a token a nickname of up to 32 characters, or remove it with an empty one.",
        discussion: "The nickname is sealed with the token, so the key is needed.",
        examples: [Example("ykit securid rename work office")])
    typealias Reported = (serial: String, nickname: String?)
    static let answer = Shape<Reported>(Member("serial") { $0.serial }, Member("nickname") { $0.nickname })

    @Argument("token", help: "The token: its serial number, its nickname, or part of one.") var token: EntryQuery

    @Argument("name", help: "The nickname; '' for none.") var name: String

    @OptionGroup var path: StorePathOptions
    @OptionGroup var key: StoreKeyOptions

    func check() throws {
        guard name.count <= SecurIDLimits.nickname else {
            throw UsageError("a nickname must have at most \(SecurIDLimits.nickname) characters")
        }
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let store = try path.tokens(run)
        let nickname = name.isEmpty ? nil : name
        let found = try run.entry(toChange: token, in: try store.all(), .forPart) {
            "change the nickname of token \($0.name)?"
        }
        if let nickname { try store.check(nickname: nickname, for: found.serial) }
        let outcome = Outcome(
            (serial: found.serial, nickname: nickname),
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
        "Delete a token. Its seed cannot be recovered.",
        examples: [Example("ykit securid delete work")])
    static let answer = Shape(Item<String>("serial"))

    @Argument("token", help: "The token: its serial number, its nickname, or part of one.") var token: EntryQuery

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var path: StorePathOptions

    func run(in run: Run) async throws -> Outcome<String> {
        let store = try path.tokens(run)
        let found = try run.entry(toChange: token, in: try store.all(), .always(unless: confirmation)) {
            "the seed of token \($0.name) would be permanently lost: delete it?"
        }
        try run.endPlan("delete token \(found.serial) from \(store.file.path.printable)")
        try store.delete(found)
        return Outcome(found.serial, "deleted token \(found.serial)")
    }
}

/// Deletes all tokens and the keys of the store.
struct SecurIDReset: Verb {
    static let about = About(
        "Delete all tokens and the store's keys.",
        discussion: """
            Credentials that the key itself stores (--discoverable) and keys in the keyring are deleted there; copies \
            of the file can then no longer be opened with them. Other keys can still open old copies of the file: \
            destroy the copies, or reset the key's FIDO application.
            """,
        examples: [Example("ykit securid reset")])
    typealias Reported = (tokens: Int, keys: Int, isReadable: Bool)
    static let answer = Shape<Reported>(
        Member("tokenCount", "how many there were") { $0.tokens },
        Member("keyCount", "how many there were") { $0.keys },
        Member("copiesReadable", "whether a key still opens copies of the file") { $0.isReadable })

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var path: StorePathOptions
    @OptionGroup var key: StoreKeyOptions

    func run(in run: Run) async throws -> Outcome<Reported> {
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
            (tokens: tokens, keys: keys, isReadable: isReadable),
            "all tokens deleted; the next import generates a new key")
    }
}

/// Shows the binding identifier.
struct SecurIDBindingID: Verb {
    static let uses: GlobalUse = .plan
    static let about = About(
        "Show this installation's binding identifier for token issuers.",
        discussion: "It is generated once, as 24 hexadecimal digits, and kept in the store, even by 'reset'.",
        examples: [Example("ykit securid binding-id")])
    static let answer = Shape(Item<String>("bindingId"))

    @OptionGroup var path: StorePathOptions

    func run(in run: Run) async throws -> Outcome<String> {
        let store = try path.tokens(run)
        let random = run.environment.random
        let known = store.bindingID.flatMap { DeviceBinding.isID($0) ? $0 : nil }
        try run.endPlan(
            known.map { "show the binding identifier \($0)" }
                ?? "generate a binding identifier, and store it in \(store.file.path.printable)")
        let id = try known ?? store.makeBindingID(random)
        return Outcome(id, id)
    }
}

/// Shows what this implementation supports.
struct SecurIDVersion: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "Show the version, and the token formats that it reads and writes.",
        examples: [Example("ykit securid version")])
    static let answer = Shape<Void>(
        Member("version") { _ in Program.version }, Member("reads") { _ in reads }, Member("writes") { _ in writes })

    private static let reads = ["ctf-v1", "ctf-v2", "ctf-v3", "ctf-v4", "sdtid", "stokenrc", "ctkip", "qr"]
    private static let writes = ["ctf-v3", "ctf-v4", "sdtid", "qr"]

    func run(in run: Run) async throws -> Outcome<Void> {
        Outcome(
            (),
            [
                "ykit \(Program.version)", "reads " + Self.reads.joined(separator: " "),
                "writes " + Self.writes.joined(separator: " "),
            ])
    }
}
