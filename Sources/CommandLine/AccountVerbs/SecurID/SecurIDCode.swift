// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import Glibc
import TerminalIO
import Verbs
import YKCrypto
import YKSecurID
import YKTokenStore
import YKWire

enum TokenPIN: SecretKind {
    static let name = SecretName("pin", "token's PIN", "YKIT_SECURID_PIN")
}

/// The source of a token's PIN.
struct TokenPINOptions: ParsableArguments {
    static let title = "PIN Options"

    @OptionGroup var given: SecretOptions<TokenPIN>

    @Flag("--ask-pin", help: "Ask for the token's PIN.") var askPin = false

    /// Returns the PIN; `nil` for the tokencode without a PIN.
    func read(_ token: StoredToken, _ run: Run) throws -> SharedSecret? {
        if let pin = try given.source.given(run.terminal) { return pin }
        guard askPin else { return nil }
        return try run.terminal.secret("PIN of token \(token.name)", orElse: TokenPIN.name.hint)
    }
}

/// The current code of an open token, and the next one.
struct TokenCodes: Report {
    let token: StoredToken
    let code: Tokencode

    static let members: [Member<TokenCodes>] = [
        Member("serial") { $0.token.serial },
        Member("code") { $0.code.code },
        Member("next") { $0.code.next },
        Member("secondsLeft") { $0.code.remaining.components.seconds },
        Member("type", "pinpad, keyfob or pinless") { $0.token.type.rawValue },
    ]
}

/// The code of a token at a time.
struct TimedTokenCodes: Report {
    let codes: TokenCodes
    let time: Int64

    static let members: [Member<TimedTokenCodes>] = including { $0.codes } + [Member("time") { $0.time }]
}

/// Calculates a code.
struct SecurIDCode: Verb {
    static let about = About(
        "Show a token's current code and the next one, after one touch.",
        discussion: """
            Without TOKEN the current token is used ('ykit securid use'), or the only one. With a PIN, a PINPad token \
            adds it to the code, and a fob puts it before the code; without one the plain code is shown.
            """,
        examples: [Example("ykit securid code"), Example("ykit securid code work --clipboard")])

    @Argument("token", help: "The token: its serial number, its nickname, or part of one.") var token: EntryQuery?

    @OptionGroup var pin: TokenPINOptions

    @Option("--time <seconds>", help: "Show the code for this time, in seconds since 1970.") var time: Int64?

    @Flag("--next", help: "Print the next code on a second line.") var next = false

    @Flag("--allow-expired", help: "Show codes of an expired token.") var allowExpired = false

    @Flag(["--clipboard", "-c"], help: "Copy the code to the clipboard, and clear it when the code expires.")
    var clipboard = false

    @OptionGroup var path: StorePathOptions
    @OptionGroup var key: StoreKeyOptions

    func check() throws {
        if let time, time < 0 { throw UsageError("--time must be 0 or more") }
    }

    func run(in run: Run) async throws -> Outcome<TimedTokenCodes> {
        let (record, opened) = try await OpenedToken.open(token, pin, path, key, allowExpired, time, run)
        let now = time ?? run.now
        let code = try opened.code(at: now, allowExpired)
        if clipboard {
            let seconds = max(1, code.validTo - run.now)
            try run.stage.copy(code.code, for: time == nil ? seconds : 30)
            run.terminal.notice("the code is on the clipboard for \(time == nil ? seconds : 30) s")
        } else {
            run.terminal.note("valid for \(code.remaining.components.seconds) s, next: \(code.next)")
        }
        return Outcome(
            TimedTokenCodes(codes: TokenCodes(token: record, code: code), time: now),
            clipboard ? [] : next ? [Style.bold.around(code.code), code.next] : [Style.bold.around(code.code)])
    }
}

/// A token with its seed in memory.
struct OpenedToken {
    let token: SecurIDToken
    private let pin: SharedSecret?

    /// Finds the token, runs the checks that need no seed (PIN, expiry), then opens it.
    static func open(
        _ query: EntryQuery?, _ pin: TokenPINOptions, _ path: StorePathOptions, _ key: StoreKeyOptions,
        _ allowExpired: Bool, _ time: Int64?, _ run: Run
    ) async throws -> (StoredToken, OpenedToken) {
        let store = try path.tokens(run)
        let record = try store.one(query, run)
        if let expiry = record.expiry, record.isExpired(at: time ?? run.now), !allowExpired {
            throw SecurIDError.expired(serial: record.serial, expiry)
        }
        let secret = try pin.read(record, run)
        if let secret { _ = try SecurIDPIN(secret.value.copy(), for: record.type) }
        let storeKey = try await run.open(store.content, key, for: "open the token store")
        return (record, OpenedToken(token: try record.token(storeKey), pin: secret))
    }

    func code(at time: Int64, _ allowExpired: Bool) throws(SecurIDError) -> Tokencode {
        guard let pin else { return try token.tokencode(at: time, allowsExpired: allowExpired) }
        return try token.tokencode(
            at: time, pin: try SecurIDPIN(pin.value.copy(), for: token.type), allowsExpired: allowExpired)
    }
}

/// Shows codes as they change.
struct SecurIDWatch: Verb {
    static let about = About(
        "Show a token's codes with a countdown, until ^C.",
        discussion: "The token is opened once; its seed stays in memory until the end.",
        examples: [Example("ykit securid watch work")])

    @Argument("token", help: "The token: its serial number, its nickname, or part of one.") var token: EntryQuery?

    @OptionGroup var pin: TokenPINOptions

    @Option("--for <seconds>", help: "Stop after this time.") var duration: Int64?

    @Flag("--allow-expired", help: "Show codes of an expired token.") var allowExpired = false

    @OptionGroup var path: StorePathOptions
    @OptionGroup var key: StoreKeyOptions

    func run(in run: Run) async throws -> Outcome<TokenCodes> {
        let (record, opened) = try await OpenedToken.open(token, pin, path, key, allowExpired, nil, run)
        let end = duration.map { run.now + max(0, min($0, 1 << 32)) }
        var last: Tokencode?
        while true {
            let now = run.now
            let code = try opened.code(at: now, allowExpired)
            let isNew = code.validTo != last?.validTo
            last = code
            if run.terminal.isOutputTerminal, !run.options.json {
                run.terminal.redraw(
                    "\r\u{1B}[K\(code.code)  \(code.remaining.components.seconds) s  next \(code.next)")
            } else if isNew {
                run.terminal.line(
                    run.options.json ? TokenCodes(token: record, code: code).answer.text : code.code)
            }
            if let end, now >= end { break }
            try run.sleep(
                until: run.terminal.isOutputTerminal ? now + 1 : min(code.validTo, end ?? code.validTo))
        }
        if run.terminal.isOutputTerminal, !run.options.json { run.terminal.line("") }
        ExitStatus.done.end()
    }
}
