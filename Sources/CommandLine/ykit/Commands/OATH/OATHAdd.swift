// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import YKCrypto
import YKOATH
import YKTransport
import YKWire

/// Writes an account whose fields are given one by one.
struct OATHAdd: Verb {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add an account; its secret is asked for.",
        discussion: """
            The secret is base 32, as services print it. It comes by prompt, --secret-stdin, --secret-fd or \
            YKIT_OATH_SECRET, never as an argument. --generate makes one up and shows it on the terminal, or writes it \
            into a new file with --uri-file.
            """)
    static let members = ["account"]

    @Argument(help: "The account, or 'issuer:account'.")
    var name: String

    @Option(name: .shortAndLong, help: "Who the account is with.")
    var issuer: String?

    @Option(name: [.customShort("o"), .customLong("type")], help: "totp or hotp.")
    var type: TypeChoice = .totp

    @Option(name: .shortAndLong, help: "sha1, sha256 or sha512.")
    var algorithm = "sha1"

    @Option(name: .shortAndLong, help: "6, 7 or 8.")
    var digits = 6

    @Option(name: [.customShort("P"), .long], help: "Seconds that a code is valid.")
    var period = 30

    @Option(name: .shortAndLong, help: "Where a counter-based account starts.")
    var counter: UInt32 = 0

    @Flag(name: .shortAndLong, help: "Ask for a touch before each code.")
    var touch = false

    @OptionGroup(title: "Secret Options")
    var secret: AccountSecretOptions

    @Flag(name: .shortAndLong, help: "Overwrite an account of the same name.")
    var force = false

    @OptionGroup(title: "Password Options")
    var password: PasswordOptions

    @OptionGroup(title: "Global Options")
    var global: GlobalOptions

    /// The two types of accounts.
    enum TypeChoice: String, CaseIterable, ExpressibleByArgument {
        case totp, hotp
    }

    func validate() throws {
        if OATHAlgorithm(name: algorithm) == nil { throw ValidationError("the algorithm is sha1, sha256 or sha512") }
        if !(6...8).contains(digits) { throw ValidationError("a code has 6, 7 or 8 digits") }
        if period < 1 || period > Int(Int32.max) { throw ValidationError("a period is at least 1 s") }
    }

    func answer(in world: World) async throws -> Answer {
        let algorithm = OATHAlgorithm(name: algorithm) ?? .sha1
        let type: OATHType = type == .hotp ? .hotp : .totp
        let id = OATHAccountID(issuer: issuer, name: name, period: type == .totp ? period : 30, type: type)
        let account = NewOATHAccount(
            id: id, secret: try secret.read(for: algorithm, world), algorithm: algorithm, digits: digits,
            needsTouch: touch, counter: counter)
        let service = try await world.oath(password)
        var made: Disclosure?
        try await AccountWriter(service: service, force: force).write(account) {
            made = try secret.disclosure(account, world)
        }
        try made?.show()
        return Answer("added '\(id.text.printable)'", ["account": account.json])
    }
}
