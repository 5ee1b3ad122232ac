// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKCrypto
import YKSecondFactor
import YKWire

enum SentPIN: SecretKind {
    static let name = SecretName("code", "PIN that was sent", "YKIT_2FA_CODE")
}

typealias SentPINOptions = SecretOptions<SentPIN>

extension SentPINOptions {
    /// Returns the PIN, given or asked for.
    func read(_ world: World) throws -> Secret { try source.read(world.terminal, asking: "PIN that was sent") }
}

/// How PINs reach the user.
enum ChannelChoice: String, CaseIterable, ExpressibleByArgument {
    case sms, mail

    var channel: PINChannel { self == .sms ? .sms : .mail }
}

/// Sends a PIN.
struct SecondFactorSendPIN: SecondFactorUserVerb {
    static let about = About(
        "send-pin", "Send a PIN by SMS or mail, to log in or to register a number.",
        discussion: """
            To log in, to the user's registered number or address. With --register, to a new one, which counts only after \
            'verify-pin --register'; a PIN for the one is refused for the other.
            """, members: ["user", "purpose", "channel", "serial", "transaction", "expires"])

    @Argument("user", help: "The user's name.") var user: String

    @Flag("--register", help: "Register a number or address.") var register = false

    @Option("--to <to>", help: "With --register: the number or address; the user's own without it.") var to: String?

    @Option("--by", help: "By sms or mail; by sms where the user has both.") var by: ChannelChoice?

    @OptionGroup var access: SecondFactorAccess
    @OptionGroup var key: StoreKeyOptions

    func check() throws {
        if to != nil, !register { throw UsageError("--to needs --register: a login uses what is registered") }
        try checkInputs()
    }

    func answer(_ connection: inout SecondFactorConnection, _ world: World) async throws -> Answer {
        let service = connection.service
        let sent =
            register
            ? try await service.sendPIN(registering: user, (by ?? .sms).channel, to: to)
            : try await service.sendPIN(loggingIn: user, by?.channel)
        var line = "a PIN was sent by \(sent.channel.rawValue)"
        if let transaction = sent.transactionID { line += ", transaction \(transaction.printable)" }
        return Answer(
            line,
            [
                "user": .string(user), "purpose": .string(sent.purpose.rawValue),
                "channel": .string(sent.channel.rawValue), "serial": .string(sent.serial),
                "transaction": sent.transactionID.map(JSONValue.string) ?? .null,
                "expires": sent.expiry.map(JSONValue.int) ?? .null,
            ])
    }
}

/// Verifies a PIN.
struct SecondFactorVerifyPIN: SecondFactorUserVerb {
    static let about = About(
        "verify-pin", "Verify the PIN that a user typed: right once, and for its purpose only.",
        members: ["user", "purpose", "serial", "accepted"])

    @Argument("user", help: "The user's name.") var user: String

    @Flag("--register", help: "The PIN of 'send-pin --register'.") var register = false

    @Option("--transaction <id>", help: "The transaction of 'send-pin', when several wait.") var transaction: String?

    @Option("--by", help: "With --register: the PIN sent by sms or by mail, when both wait.") var by: ChannelChoice?

    @OptionGroup var code: SentPINOptions
    @OptionGroup var access: SecondFactorAccess
    @OptionGroup var key: StoreKeyOptions

    func check() throws {
        if register, transaction != nil { throw UsageError("--register has no --transaction") }
        if by != nil, !register { throw UsageError("--by needs --register") }
        try checkInputs(code.isStandardInput)
    }

    func answer(_ connection: inout SecondFactorConnection, _ world: World) async throws -> Answer {
        let service = connection.service
        let pin = try code.read(world)
        let serial: String
        if register {
            serial = try await service.verifyPIN(pin, registering: user, by?.channel).serial
        } else {
            let waiting = try await service.pendingPIN(of: user, transaction: transaction)
            try await service.verifyPIN(pin, loggingIn: user, waiting)
            serial = waiting.serial
        }
        return Answer(
            register ? "the PIN is right, \(serial.printable) is registered" : "the PIN is right",
            [
                "user": .string(user), "purpose": .string(register ? "register" : "login"),
                "serial": .string(serial), "accepted": true,
            ])
    }
}

/// Shows the phone number that PINs are sent to.
struct SecondFactorPhone: SecondFactorUserVerb {
    static let about = About("phone", "Show a user's mobile number, masked.", members: ["user", "phone", "masked"])

    @Argument("user", help: "The user's name.") var user: String

    @Flag("--reveal", help: "Show all digits.") var reveal = false

    @OptionGroup var access: SecondFactorAccess
    @OptionGroup var key: StoreKeyOptions

    func answer(_ connection: inout SecondFactorConnection, _ world: World) async throws -> Answer {
        guard let phone = try await connection.service.phone(of: user) else {
            throw Explanation("no-phone", .notFound, "the record of '\(user.printable)' has no mobile number")
        }
        let shown = reveal ? phone.number : phone.description
        return Answer(
            shown.printable, ["user": .string(user), "phone": .string(shown), "masked": .bool(!reveal)])
    }
}
