// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
package import TerminalIO
import Verbs
import YKCrypto
package import YKPrivacyIDEA
import YKProtocols
package import YKSecondFactor
import YKStore
import YKWire

/// A new session.
struct StartedSession: Report {
    let session: ServerSession
    let isKept: Bool

    static let members: [Member<StartedSession>] =
        [
            Member("account") { $0.session.account.name },
            Member("role", "admin or user") { $0.session.account.role },
            Member("realm") { $0.session.account.realm },
        ] + time("expires") { $0.session.expiry } + [
            Member("kept") { $0.isKept }
        ]
}

/// Logs in, to check the credentials or to store the session.
struct SecondFactorLogIn: Verb {
    static let about = About(
        "Log in at the server; with --keep, for subsequent commands.",
        discussion: """
            Uses a password, or a passkey on the key with --passkey. A kept session is sealed by the key, which is \
            needed again for each command that uses it; the server ends it after an hour or so.
            """,
        examples: [Example("ykit 2fa login --server https://mfa.example.com --keep")])

    @OptionGroup var access: SecondFactorAccess

    @Flag("--keep", help: "Keep the session, sealed by the key.") var keep = false

    @OptionGroup var key: StoreKeyOptions

    var ownPIN: CredentialKind? { .fidoPIN }

    func run(in run: Run) async throws -> Outcome<StartedSession> {
        let (connection, made) = try await access.logIn(run, key)
        if keep {
            let kept = KeptSession(
                server: connection.url, trust: connection.trust, account: made.account.name, role: made.account.role,
                expiry: made.expiry)
            try await connection.vault.keep(kept, made.token)
        }
        return Outcome(
            StartedSession(session: made, isKept: keep),
            "logged in as \(made.account.role.printable) '\(made.account.name.printable)'" + (keep ? ", kept" : ""))
    }
}

extension SecondFactorAccess {
    /// Starts a new session; never uses a stored one.
    fileprivate func logIn(
        _ run: Run, _ key: StoreKeyOptions
    ) async throws -> (SecondFactorConnection, ServerSession) {
        var (connection, secret) = try anonymous(run, key)
        if passkey {
            let client = try await connection.key(run, "log in")
            return (connection, try await connection.service.logIn(passkey: client))
        }
        let password = try secret ?? askPassword(run)
        return (connection, try await connection.service.logIn(account, password: password.value))
    }
}

/// Deletes a stored session.
struct SecondFactorLogOut: Verb {
    static let about = About(
        "Delete the kept session. Needs no key.",
        examples: [Example("ykit 2fa logout")])
    static let answer = Shape(Item<String>("server", "its address"))

    @OptionGroup var access: SecondFactorAccess

    func run(in run: Run) async throws -> Outcome<String> {
        let vault = try access.vault(run, StoreKeyOptions())
        let record = try access.url().flatMap { try vault.session(at: $0) } ?? vault.onlySession()
        try vault.remove(record.id)
        return Outcome(record.description["server"]?.string ?? "", "session deleted")
    }
}

/// Shows a user's second factors.
struct SecondFactorShow: SecondFactorUserVerb {
    static let about = About(
        "Show which second factor a user has.",
        discussion: """
            none: no token; disabled: none that can be used; sms: a PIN by SMS or email; fp: a key or passkey; other: \
            something else.
            """,
        examples: [Example("ykit 2fa status alice --server https://mfa.example.com")])

    @Argument("user", help: "The user's name.") var user: String

    @OptionGroup var server: SecondFactorOptions

    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<SecondFactorStatus> {
        let status = try await connection.service.status(of: user)
        return Outcome(
            status, ["\(user.printable): \(status.state.rawValue)"] + Table.lines(status.factors.map(\.row)))
    }
}

extension SecondFactorStatus: Report {
    package static let members: [Member<SecondFactorStatus>] = [
        Member("user") { $0.user },
        Member("status", "none, disabled, sms, fp or other") { $0.state.rawValue },
        Member("factors") { $0.factors },
    ]
}

extension Factor: Report {
    package static let members: [Member<Factor>] = [
        Member("serial") { $0.serial },
        Member("type", "the server's word") { $0.kind.rawValue },
        Member("active") { $0.isActive },
        Member("usable") { $0.isUsable },
        Member("state", "the state of the enrollment, as the server reports it") { $0.enrolment?.rawValue },
        Member("description") { $0.description },
        Member("failCount") { $0.failCount },
        Member("maxFail", "0 for no limit") { $0.maxFail },
        Member("container") { $0.container },
        Member("aaguid", "the model of a key, as the server writes it") { $0.aaguid },
    ]

    /// The row of a table.
    var row: [String] {
        let state =
            isBlocked ? "locked" : isUsable ? "usable" : isActive ? enrolment?.rawValue ?? "locked" : "disabled"
        return [serial.printable, kind.rawValue.printable, state.printable, description.printable]
    }
}

/// Performs a login as a service would.
struct SecondFactorLogInTest: SecondFactorUserVerb {
    static let about = About(
        "Walk through a login as a service would: status, remembered device, key or PIN.",
        examples: [Example("ykit 2fa login-test alice")])
    typealias Reported = (user: String, steps: [LogInStep])
    static let answer = Shape<Reported>(
        Member("user") { $0.user }, Member("steps") { $0.steps }, Member("accepted") { _ in true })

    @Argument("user", help: "The user's name.") var user: String

    @OptionGroup var code: SentPINOptions

    @Option(
        "--notify-command <command>",
        help: "Run this shell command for each step, with the step as JSON on its standard input.")
    var notifyCommand: String?

    @OptionGroup var server: SecondFactorOptions

    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<Reported> {
        let connection = connection
        let hook = notifyCommand.map { CommandHook($0, run) }
        defer { hook?.finish() }
        let id = SecondFactorVault.deviceID(connection.url, user)
        var steps: [LogInStep] = []
        func test(_ cookie: SharedSecret?) async throws -> LogInOutcome {
            try await connection.service.testLogIn(
                user, cookie: cookie, key: { try await connection.key(run, "log in") },
                pin: { _ in SharedSecret(try code.read(run)) },
                report: { step in
                    steps.append(step)
                    hook?.add(Array((step.json.text + "\n").utf8))
                    run.terminal.say(step.words)
                })
        }
        if connection.apiKey != nil, let record = try connection.vault.record(id) {
            try await connection.vault.keep(id: id, record.description) { cookie in
                try await test(cookie).cookie ?? SharedSecret(Secret([]))
            }
            if !steps.contains(.trusted(true)) { try connection.vault.remove(id) }
        } else {
            _ = try await test(nil)
        }
        return Outcome((user: user, steps: steps), "'\(user.printable)' is logged in")
    }
}

extension LogInStep: Report {
    package static let members: [Member<LogInStep>] = [
        Member("step", "status, trusted, key, pin-sent or pin-verified") { $0.name },
        Member(ifKnown: "status") { $0.state?.rawValue },
        Member(ifKnown: "trusted") { $0.isTrusted },
        Member(ifKnown: "serial", "of the factor") { $0.serial },
        Member(ifKnown: "channel", "sms or mail") { $0.channel?.rawValue },
    ]

    private var name: String {
        switch self {
        case .status: "status"
        case .trusted: "trusted"
        case .key: "key"
        case .pinSent: "pin-sent"
        case .pinVerified: "pin-verified"
        }
    }

    private var state: SecondFactorStatus.State? { if case .status(let state) = self { state } else { nil } }
    private var isTrusted: Bool? { if case .trusted(let isTrusted) = self { isTrusted } else { nil } }
    private var channel: PINChannel? { if case .pinSent(let challenge) = self { challenge.channel } else { nil } }
    private var serial: String? {
        switch self {
        case .key(let serial): serial
        case .pinSent(let challenge): challenge.serial
        default: nil
        }
    }

    fileprivate var words: String {
        switch self {
        case .status(let state): "status: \(state.rawValue)"
        case .trusted(true): "this device is remembered"
        case .trusted(false): "this device is not remembered"
        case .key(let serial): "the key answered (\(serial.printable))"
        case .pinSent(let challenge): "a PIN was sent by \(challenge.channel.words)"
        case .pinVerified: "the PIN was correct"
        }
    }
}
