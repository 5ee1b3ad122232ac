// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKCrypto
import YKHTTP
import YKSecondFactor
import YKStore
import YKTransport
import YKWire

/// Logs in, to check the credentials or to store the session.
struct SecondFactorLogIn: Verb {
    static let about = About(
        "login", "Log in at the server; with --keep, for the commands that follow.",
        discussion: """
            With a password, or --passkey with a passkey of the key. A session that is kept is sealed by the key, which is \
            needed again for each command that uses it; the server ends it after an hour or so.
            """, members: ["account", "role", "realm", "expires", "kept"])

    @OptionGroup var access: SecondFactorAccess

    @Flag("--keep", help: "Keep the session, sealed by the key.") var keep = false

    @OptionGroup var key: StoreKeyOptions

    var pinApplication: PINApplication? { .fido }

    func answer(in world: World) async throws -> Answer {
        let session = try await access.logIn(world, key)
        let (connection, made) = session
        if keep {
            let kept = KeptSession(
                server: connection.url, trust: connection.trust, account: made.account.name, role: made.account.role,
                expiry: made.expiry)
            try await connection.vault.keep(kept, made.token)
        }
        return Answer(
            "logged in as \(made.account.role.printable) '\(made.account.name.printable)'" + (keep ? ", kept" : ""),
            [
                "account": .string(made.account.name), "role": .string(made.account.role),
                "realm": .string(made.account.realm),
                "expires": made.expiry.map(JSONValue.int) ?? .null, "kept": .bool(keep),
            ])
    }
}

extension SecondFactorAccess {
    /// Starts a new session; never uses a stored one.
    fileprivate func logIn(
        _ world: World, _ key: StoreKeyOptions
    ) async throws -> (SecondFactorConnection, ServerSession) {
        var (connection, secret) = try anonymous(world, key)
        if passkey {
            let client = try await connection.key(world, key, "log in")
            return (connection, try await connection.service.logIn(passkey: client))
        }
        let password = try secret ?? askPassword()
        return (connection, try await connection.service.logIn(account, password: password.value))
    }
}

/// Deletes a stored session.
struct SecondFactorLogOut: Verb {
    static let about = About(
        "logout", "Delete the session that was kept; no key is needed for that.", members: ["deleted"])

    @OptionGroup var access: SecondFactorAccess

    func answer(in world: World) async throws -> Answer {
        let vault = try access.vault(world, StoreKeyOptions())
        let record = try access.url().flatMap { try vault.session(at: $0) } ?? vault.onlySession()
        try vault.remove(record.id)
        return Answer("the session is deleted", ["deleted": .string(record.description["server"]?.string ?? "")])
    }
}

/// Shows a user's second factors.
struct SecondFactorShow: SecondFactorUserVerb {
    static let about = About(
        "status", "Show which second factor a user has.",
        discussion: """
            none: no token; disabled: none that can be used; sms: a PIN by SMS or mail; fp: a key or passkey; other: \
            something else.
            """, members: ["user", "status", "factors"])

    @Argument("user", help: "The user's name.") var user: String

    @OptionGroup var access: SecondFactorAccess
    @OptionGroup var key: StoreKeyOptions

    func answer(_ connection: inout SecondFactorConnection, _ world: World) async throws -> Answer {
        let status = try await connection.service.status(of: user)
        return Answer(
            ["\(user.printable): \(status.state.rawValue)"] + Table.lines(status.factors.map(\.row)),
            [
                "user": .string(user), "status": .string(status.state.rawValue),
                "factors": .array(status.factors.map(\.listed)),
            ])
    }
}

extension Factor {
    /// The JSON for lists.
    var listed: JSONValue {
        [
            "serial": .string(serial), "type": .string(kind.rawValue), "active": .bool(isActive),
            "usable": .bool(isUsable), "state": enrolment.map { .string($0.rawValue) } ?? .null,
            "description": .string(description), "failCount": .int(Int64(failCount)),
            "maxFail": .int(Int64(maxFail)), "container": container.map(JSONValue.string) ?? .null,
            "aaguid": aaguid.map(JSONValue.string) ?? .null,
        ]
    }

    /// The row of a table.
    var row: [String] {
        let state =
            isBlocked ? "locked" : isUsable ? "usable" : isActive ? enrolment?.rawValue ?? "locked" : "disabled"
        return [serial.printable, kind.rawValue.printable, state.printable, description.printable]
    }
}

/// Goes through a login as a service would.
struct SecondFactorLogInTest: SecondFactorUserVerb {
    static let about = About(
        "login-test",
        "Walk through a login as a service would: status, remembered device, key or PIN.",
        members: ["user", "steps", "accepted"])

    @Argument("user", help: "The user's name.") var user: String

    @OptionGroup var code: SentPINOptions

    @Option(
        "--notify-command <command>",
        help: "Run this shell command for each step, which it gets as JSON on standard input.")
    var notifyCommand: String?

    @OptionGroup var access: SecondFactorAccess
    @OptionGroup var key: StoreKeyOptions

    func check() throws { try checkInputs(code.isStandardInput) }

    func answer(_ connection: inout SecondFactorConnection, _ world: World) async throws -> Answer {
        let connection = connection
        let hook = notifyCommand.map { CommandHook($0, world.terminal) }
        defer { hook?.finish() }
        let id = SecondFactorVault.deviceID(connection.url, user)
        var steps: [LogInStep] = []
        func test(_ cookie: SharedSecret?) async throws -> LogInOutcome {
            try await connection.service.testLogIn(
                user, cookie: cookie, key: { try await connection.key(world, key, "log in") },
                pin: { _ in SharedSecret(try code.read(world)) },
                report: { step in
                    steps.append(step)
                    hook?.add(Array((step.json.text + "\n").utf8))
                    world.terminal.say(step.words)
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
        return Answer(
            "'\(user.printable)' is logged in",
            ["user": .string(user), "steps": .array(steps.map(\.json)), "accepted": true])
    }
}

extension LogInStep {
    fileprivate var json: JSONValue {
        switch self {
        case .status(let state): ["step": "status", "status": .string(state.rawValue)]
        case .trusted(let isTrusted): ["step": "trusted", "trusted": .bool(isTrusted)]
        case .key(let serial): ["step": "key", "serial": .string(serial)]
        case .pinSent(let challenge):
            ["step": "pin-sent", "serial": .string(challenge.serial), "channel": .string(challenge.channel.rawValue)]
        case .pinVerified: ["step": "pin-verified"]
        }
    }

    fileprivate var words: String {
        switch self {
        case .status(let state): "status: \(state.rawValue)"
        case .trusted(true): "this device is remembered"
        case .trusted(false): "this device is not remembered"
        case .key(let serial): "the key answered (\(serial.printable))"
        case .pinSent(let challenge): "a PIN was sent by \(challenge.channel.rawValue)"
        case .pinVerified: "the PIN was right"
        }
    }
}
