// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKPrivacyIDEA
import YKSecondFactor

enum SentPIN: SecretKind {
    static let name = SecretName("code", "PIN that was sent", "YKIT_2FA_CODE")
}

typealias SentPINOptions = SecretOptions<SentPIN>

extension SentPINOptions {
    /// Returns the PIN, given or asked for.
    func read(_ run: Run) throws -> Secret { try source.read(run.terminal, asking: "PIN that was sent") }
}

/// The ways to send a PIN to the user.
enum ChannelChoice: String, CaseIterable, ExpressibleByArgument {
    case sms, mail

    var channel: PINChannel { self == .sms ? .sms : .mail }
}

extension PINChannel {
    /// The channel as sentences name it.
    var words: String { self == .sms ? "SMS" : "email" }
}

/// A PIN that was sent.
struct SentPINReport: Report {
    let user: String
    let sent: PINChallenge

    static let members: [Member<SentPINReport>] =
        [
            Member("user") { $0.user },
            Member("purpose", "login or register") { $0.sent.purpose.rawValue },
            Member("channel", "sms or mail") { $0.sent.channel.rawValue },
            Member("serial") { $0.sent.serial },
            Member("transaction", "of a login") { $0.sent.transactionID },
        ] + time("expires") { $0.sent.expiry }
}

/// Sends a PIN.
struct SecondFactorSendPIN: SecondFactorUserVerb {
    static let about = About(
        "Send a PIN by SMS or email, to log in or to register a number.",
        discussion: """
            For a login, the PIN is sent to the user's registered number or address. With --register it is sent to a \
            new one, which is not used until 'verify-pin --register'. A PIN for one purpose is refused for the other.
            """,
        examples: [
            Example("ykit 2fa send-pin alice --by sms"),
            Example("ykit 2fa send-pin alice --register --to +41790000000"),
        ])

    @Argument("user", help: "The user's name.") var user: String

    @Flag("--register", help: "Register a number or address.") var register = false

    @Option("--to <to>", help: "With --register: the number or address (default: the user's own).") var to: String?

    @Option("--by", help: "sms or mail (default: sms if the user has both).") var by: ChannelChoice?

    @OptionGroup var server: SecondFactorOptions

    func check() throws {
        if to != nil, !register {
            throw UsageError("--to needs --register: a login uses the registered number or address")
        }
    }

    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<SentPINReport> {
        let service = connection.service
        let sent =
            register
            ? try await service.sendPIN(registering: user, (by ?? .sms).channel, to: to)
            : try await service.sendPIN(loggingIn: user, by?.channel)
        var line = "a PIN was sent by \(sent.channel.words)"
        if let transaction = sent.transactionID { line += ", transaction \(transaction.printable)" }
        return Outcome(SentPINReport(user: user, sent: sent), line)
    }
}

/// Verifies a PIN.
struct SecondFactorVerifyPIN: SecondFactorUserVerb {
    static let about = About(
        "Verify the PIN that a user typed. A PIN is valid once, and only for its purpose.",
        examples: [Example("ykit 2fa verify-pin alice")])
    typealias Reported = (user: String, purpose: PINChallenge.Purpose, serial: String)
    static let answer = Shape<Reported>(
        Member("user") { $0.user }, Member("purpose", "login or register") { $0.purpose.rawValue },
        Member("serial") { $0.serial }, Member("accepted") { _ in true })

    @Argument("user", help: "The user's name.") var user: String

    @Flag("--register", help: "The PIN of 'send-pin --register'.") var register = false

    @Option("--transaction <id>", help: "The transaction of 'send-pin', if several are pending.")
    var transaction: String?

    @Option("--by", help: "With --register: the PIN sent by sms or by mail, if both are pending.")
    var by: ChannelChoice?

    @OptionGroup var code: SentPINOptions
    @OptionGroup var server: SecondFactorOptions

    func check() throws {
        if register, transaction != nil { throw UsageError("--register and --transaction cannot be combined") }
        if by != nil, !register { throw UsageError("--by needs --register") }
    }

    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<Reported> {
        let service = connection.service
        let pin = try code.read(run)
        let serial: String
        if register {
            serial = try await service.verifyPIN(pin, registering: user, by?.channel).serial
        } else {
            let waiting = try await service.pendingPIN(of: user, transaction: transaction)
            try await service.verifyPIN(pin, loggingIn: user, waiting)
            serial = waiting.serial
        }
        return Outcome(
            (user: user, purpose: register ? .register : .login, serial: serial),
            register ? "the PIN is correct, \(serial.printable) is registered" : "the PIN is correct")
    }
}

/// Shows the phone number that PINs are sent to.
struct SecondFactorPhone: SecondFactorUserVerb {
    static let about = About(
        "Show a user's mobile number, masked.",
        examples: [Example("ykit 2fa phone alice")])
    typealias Reported = (user: String, phone: String, isMasked: Bool)
    static let answer = Shape<Reported>(
        Member("user") { $0.user }, Member("phone") { $0.phone }, Member("masked") { $0.isMasked })

    @Argument("user", help: "The user's name.") var user: String

    @Flag("--reveal", help: "Show masked text in full.") var reveal = false

    @OptionGroup var server: SecondFactorOptions

    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<Reported> {
        guard let phone = try await connection.service.phone(of: user) else {
            throw Explanation("no-phone", .notFound, "the record of '\(user.printable)' has no mobile number")
        }
        let shown = reveal ? phone.number : phone.description
        return Outcome((user: user, phone: shown, isMasked: !reveal), shown.printable)
    }
}
