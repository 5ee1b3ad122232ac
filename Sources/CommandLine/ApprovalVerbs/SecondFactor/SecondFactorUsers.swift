// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKCrypto
import YKFIDO
import YKSecondFactor
import YKWire

/// The second factors of a new user.
enum ModeChoice: String, CaseIterable, ExpressibleByArgument {
    case sms
    case smsAndKey = "sms+fp"
}

/// The second factors that are enabled.
enum EnableChoice: String, CaseIterable, ExpressibleByArgument {
    case sms
    case key = "fp"
    case smsAndKey = "sms+fp"

    var states: Set<SecondFactorStatus.State> {
        switch self {
        case .sms: [.sms]
        case .key: [.fp]
        case .smsAndKey: [.sms, .fp]
        }
    }
}

/// Creates a user.
struct SecondFactorAddUser: SecondFactorUserVerb {
    static let about = About(
        "add-user", "Make a user with a second factor.",
        discussion: """
            The user gets PINs by SMS (--mobile), or by mail with --mail alone. With --mode sms+fp the key at hand is \
            registered as well. Where the server verifies enrolments, the PIN goes out at once: 'verify-pin --register'.
            """, members: ["user", "serial", "channel", "pending", "active", "key"])

    @Argument("user", help: "The user's name.") var user: String

    @Option("--mobile <number>", help: "The mobile number.") var mobile: String?

    @Option("--mail <address>", help: "The mail address.") var mail: String?

    @Option("--given-name <name>", help: "The given name.") var givenName: String?

    @Option("--surname <name>", help: "The family name.") var surname: String?

    @Option("--mode", help: "sms, the default, or sms+fp.") var mode: ModeChoice = .sms

    @Flag("--disabled", help: "Disable the factors at first.") var disabled = false

    @Option("--resolver <name>", help: "The user store, where the realm has several.") var resolver: String?

    @Option(
        "--user-password-fd <n>",
        help: "Read the user's new password from this open file descriptor; or set YKIT_2FA_USER_PASSWORD.")
    var userPasswordFd: Int32?

    @OptionGroup var access: SecondFactorAccess
    @OptionGroup var key: StoreKeyOptions

    func check() throws {
        if mobile == nil, mail == nil { throw UsageError("name where PINs go: --mobile or --mail") }
        if disabled, mode == .smsAndKey { throw UsageError("--disabled excludes --mode sms+fp") }
        try checkInputs()
    }

    func answer(_ connection: inout SecondFactorConnection, _ world: World) async throws -> Answer {
        var new = NewUser(user)
        (new.mobile, new.email, new.givenName, new.surname) = (mobile, mail, givenName, surname)
        let source = SecretInput.Source(descriptor: userPasswordFd, variable: "YKIT_2FA_USER_PASSWORD", hint: "")
        new.password = try source.given(world.terminal)
        let channel: PINChannel = mobile == nil ? .mail : .sms
        let token = try await connection.service.addUser(new, channel, isDisabled: disabled, resolver: resolver)
        var answer = Answer(
            ["user '\(user.printable)' with \(channel.rawValue) \(token.serial.printable)"],
            [
                "user": .string(user), "serial": .string(token.serial), "channel": .string(channel.rawValue),
                "pending": .bool(token.enrolment == .verify), "active": .bool(token.isActive), "key": .null,
            ])
        if token.enrolment == .verify { answer.lines.append("a PIN was sent: ykit 2fa verify-pin USER --register") }
        guard mode == .smsAndKey else { return answer }
        do {
            let connection = connection
            let made = try await connection.service.registerKey(
                user, try await connection.key(world, key, "register a key for '\(user.printable)'"),
                requiresPIN: false)
            answer.members["key"] = made.listed
            answer.lines.append("key \(made.serial.printable)")
        } catch {
            answer.failure = Explain.explain(error)
            answer.failure?.hint = "the user is made; register the key with: ykit 2fa register-key USER"
        }
        return answer
    }
}

/// Enables a user's factors.
struct SecondFactorEnable: SecondFactorUserVerb {
    static let about = About(
        "enable", "Enable a user's second factors.",
        discussion: """
            A number or address that is not verified stays disabled: 'verify-pin --register' enables it. With --mode \
            sms+fp the user must have both, a number or address and a key.
            """, members: ["user", "changed", "waiting"])

    @Argument("user", help: "The user's name.") var user: String

    @Option("--mode", help: "Only these: sms, fp or sms+fp.") var mode: EnableChoice?

    @OptionGroup var access: SecondFactorAccess
    @OptionGroup var key: StoreKeyOptions

    func answer(_ connection: inout SecondFactorConnection, _ world: World) async throws -> Answer {
        let (changed, waiting) = try await connection.service.enable(user, mode?.states ?? [])
        let serials = waiting.map(\.serial)
        if !serials.isEmpty {
            world.terminal.warn(
                "\(serials.joined(separator: ", ").printable) cannot be used before its enrolment is complete; for a "
                    + "number: ykit 2fa verify-pin \(user.printable) --register")
        }
        return Answer(
            "enabled: \(changed)",
            [
                "user": .string(user), "changed": .int(Int64(changed)),
                "waiting": .array(serials.map(JSONValue.string)),
            ])
    }
}

/// Disables a user's factors.
struct SecondFactorDisable: SecondFactorUserVerb {
    static let about = About("disable", "Disable all second factors of a user.", members: ["user", "changed"])

    @Argument("user", help: "The user's name.") var user: String

    @OptionGroup var access: SecondFactorAccess
    @OptionGroup var key: StoreKeyOptions

    func answer(_ connection: inout SecondFactorConnection, _ world: World) async throws -> Answer {
        let count = try await connection.service.disable(user)
        return Answer(
            "disabled: \(count)", ["user": .string(user), "changed": .int(Int64(count))])
    }
}
