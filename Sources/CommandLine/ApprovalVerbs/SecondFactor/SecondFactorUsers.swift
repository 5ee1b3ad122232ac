// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKPrivacyIDEA
import YKSecondFactor

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

/// A user who was created.
struct AddedUser: Report {
    let user: String
    let factor: Factor
    let channel: PINChannel
    var key: Factor?

    static let members: [Member<AddedUser>] = [
        Member("user") { $0.user },
        Member("serial") { $0.factor.serial },
        Member("channel", "sms or mail") { $0.channel.rawValue },
        Member("pending", "whether the PIN has yet to be verified") { $0.factor.enrolment == .verify },
        Member("active") { $0.factor.isActive },
        Member("factor", "with --mode sms+fp") { $0.key },
    ]
}

/// Creates a user.
struct SecondFactorAddUser: SecondFactorUserVerb {
    static let about = About(
        "Create a user with a second factor.",
        discussion: """
            The user gets PINs by SMS (--mobile), or by email with --mail alone. With --mode sms+fp, this key is also \
            registered. If the server verifies enrollments, a PIN is sent immediately: verify it with 'verify-pin \
            --register'.
            """,
        examples: [Example("ykit 2fa add-user alice --mobile +41790000000")])

    @Argument("user", help: "The user's name.") var user: String

    @Option("--mobile <number>", help: "The mobile number.") var mobile: String?

    @Option("--mail <address>", help: "The email address.") var mail: String?

    @Option("--given-name <name>", help: "The given name.") var givenName: String?

    @Option("--surname <name>", help: "The family name.") var surname: String?

    @Option("--mode", help: "sms, the default, or sms+fp.") var mode: ModeChoice = .sms

    @Flag("--disabled", help: "Leave the factors disabled.") var disabled = false

    @Option("--resolver <name>", help: "The user store, if the realm has several.") var resolver: String?

    @Option(
        "--user-password-fd <n>",
        help: "Read the user's new password from this open file descriptor; or set YKIT_2FA_USER_PASSWORD.")
    var userPasswordFd: Int32?

    @OptionGroup var server: SecondFactorOptions

    func check() throws {
        if mobile == nil, mail == nil { throw UsageError("give --mobile or --mail, where PINs are sent") }
        if disabled, mode == .smsAndKey { throw UsageError("--disabled and --mode sms+fp cannot be combined") }
    }

    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<AddedUser> {
        var new = NewUser(user)
        (new.mobile, new.email, new.givenName, new.surname) = (mobile, mail, givenName, surname)
        let source = SecretInput.Source(descriptor: userPasswordFd, variable: "YKIT_2FA_USER_PASSWORD", hint: "")
        new.password = try source.given(run.terminal)
        let channel: PINChannel = mobile == nil ? .mail : .sms
        let token = try await connection.service.addUser(new, channel, isDisabled: disabled, resolver: resolver)
        var added = AddedUser(user: user, factor: token, channel: channel)
        var lines = ["user '\(user.printable)' with \(channel.words) \(token.serial.printable)"]
        if token.enrolment == .verify { lines.append("a PIN was sent: ykit 2fa verify-pin USER --register") }
        guard mode == .smsAndKey else { return Outcome(added, lines) }
        do {
            let connection = connection
            let made = try await connection.service.registerKey(
                user, try await connection.key(run, "register a key for '\(user.printable)'"),
                requiresPIN: false)
            added.key = made
            return Outcome(added, lines + ["key \(made.serial.printable)"])
        } catch {
            var outcome = Outcome(added, lines)
            outcome.answer.failure = Explanation(error)
            outcome.answer.failure?.hint = "the user was created; register the key with: ykit 2fa register-key USER"
            return outcome
        }
    }
}

/// Enables a user's factors.
struct SecondFactorEnable: SecondFactorUserVerb {
    static let about = About(
        "Enable a user's second factors.",
        discussion: """
            A number or address that is not verified stays disabled: 'verify-pin --register' enables it. With --mode \
            sms+fp the user must have both, a number or address and a key.
            """,
        examples: [Example("ykit 2fa enable alice")])
    typealias Reported = (user: String, count: Int, waiting: [String])
    static let answer = Shape<Reported>(
        Member("user") { $0.user }, Member("changedCount") { $0.count },
        Member("waitingSerials", "of factors that are not verified") { $0.waiting })

    @Argument("user", help: "The user's name.") var user: String

    @Option("--mode", help: "Only these: sms, fp or sms+fp.") var mode: EnableChoice?

    @OptionGroup var server: SecondFactorOptions

    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<Reported> {
        let (changed, waiting) = try await connection.service.enable(user, mode?.states ?? [])
        let serials = waiting.map(\.serial)
        if !serials.isEmpty {
            run.terminal.warn(
                "enrollment-incomplete",
                "\(serials.joined(separator: ", ").printable) cannot be used before its enrollment is complete; for a "
                    + "number: ykit 2fa verify-pin \(user.printable) --register")
        }
        return Outcome((user: user, count: changed, waiting: serials), "enabled: \(changed)")
    }
}

/// Disables a user's factors.
struct SecondFactorDisable: SecondFactorUserVerb {
    static let about = About(
        "Disable all second factors of a user.",
        examples: [Example("ykit 2fa disable alice")])
    typealias Reported = (user: String, count: Int)
    static let answer = Shape<Reported>(Member("user") { $0.user }, Member("changedCount") { $0.count })

    @Argument("user", help: "The user's name.") var user: String

    @OptionGroup var server: SecondFactorOptions

    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<Reported> {
        let count = try await connection.service.disable(user)
        return Outcome((user: user, count: count), "disabled: \(count)")
    }
}
