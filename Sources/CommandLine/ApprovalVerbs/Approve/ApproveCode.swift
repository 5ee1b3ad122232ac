// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKApproval
import YKCrypto
import YKOATH
import YKTransport

/// Shows the code of an account.
struct ApproveCode: Verb {
    static let about = About(
        "Show the one-time code of an account, and how long it is valid.",
        discussion: "The secret is in the key's OATH application. A counter-based account advances with each code.",
        examples: [Example("ykit approve code alice")])
    typealias Reported = (account: ApprovalAccount, code: String, secondsLeft: Int64?)
    static let answer = Shape<Reported>(
        Member("accountId") { $0.account.id }, Member("code") { $0.code },
        Member("secondsLeft", "null for a counter-based account") { $0.secondsLeft })

    @Argument("account", help: "The account: its name, serial number or server, or part of one.")
    var account: EntryQuery?

    @Option("--time <seconds>", help: "Show the code for this time, in seconds since 1970.") var time: Int64?

    @Flag(["--clipboard", "-c"], help: "Copy the code to the clipboard, and clear it when the code expires.")
    var clipboard = false

    @OptionGroup var password: PasswordOptions
    @OptionGroup var path: ApproveStoreOptions

    func run(in run: Run) async throws -> Outcome<Reported> {
        let account = try path.accounts(run).one(account, of: [.totp, .hotp], "with codes", run)
        guard let stored = CodeAccount(account) else {
            throw Explanation.malformed("account '\(account.name.printable)' cannot be read")
        }
        let service = try await run.oath(password)
        let now = time ?? run.now
        let code = try await TouchPrompt.during(run.terminal) { try await service.code(for: stored.id, at: now) }
        let left = code.validTo.map { max(0, $0 - now) }
        if clipboard {
            try run.stage.copy(code.text, for: max(1, left ?? 30))
            run.terminal.notice("the code is on the clipboard for \(max(1, left ?? 30)) s")
        } else if let left {
            run.terminal.note("valid for \(left) s")
        }
        return Outcome(
            (account: account, code: code.text, secondsLeft: left),
            clipboard ? [] : [Style.bold.around(code.text)])
    }
}

/// Adds accounts with one-time codes to the key and to the store.
struct CodeEnrolment {
    let run: Run
    let writer: AccountWriter
    let touch: Bool

    /// The account of a link, and what the user must enter at the server if it requires half of the secret.
    struct Made {
        let account: ApprovalAccount
        let entry: String?
    }

    /// Adds the account of a link to the key.
    ///
    /// - Parameters:
    ///   - name: The display name; by default the one in the link.
    ///   - server: The host and port, if known.
    ///   - container: The container that the token belongs to.
    ///   - force: Whether to overwrite an account of the same name that is already on the key.
    func add(
        _ link: CodeLink, name: String?, server: String, container: String?, _ accounts: [ApprovalAccount],
        force: Bool = false
    ) async throws -> Made {
        var new = link.account
        var entry: String?
        if let step = link.twoStep {
            let part = try step.part(run.environment.random)
            let secret = try step.secret(server: new.secret.value, part: part.value)
            new = NewOATHAccount(
                id: new.id, secret: secret.value.copy(), algorithm: new.algorithm, digits: new.digits,
                counter: new.counter)
            entry = TwoStep.shown(part.value)
        }
        new.needsTouch = touch
        try await writer.write(new, force: force)
        let wanted = name ?? new.id.text
        let account = CodeAccount(
            id: new.id, name: ApprovalStore.freeName(wanted, in: accounts), serial: link.serial ?? new.id.name,
            server: server, container: container, added: run.now)
        return Made(account: account.stored, entry: entry)
    }
}
