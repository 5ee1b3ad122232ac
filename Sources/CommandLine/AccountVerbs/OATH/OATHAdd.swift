// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKKeys
import YKOATH
import YKTransport

/// An account that was added, to one key or several.
struct AccountOnKeys: Report {
    let account: OATHAccount
    let devices: [String]?
    let container: String?

    static let members: [Member<AccountOnKeys>] = [
        Member("account") { $0.account },
        Member("serials", "of several keys") { $0.devices },
        Member("pskc", "the key container") { $0.container },
    ]
}

/// Adds an account from separate options.
struct OATHAdd: Verb {
    static let readsLines = true
    static let about = About(
        "add", "Add an account. Asks for its secret.",
        discussion: """
            The secret is base 32, as services print it. It is read from a prompt, --secret-stdin, --secret-fd or \
            YKIT_OATH_SECRET, never from an argument. On standard input it is the line before the password. --generate \
            creates a random one and shows it on the terminal, or writes it to a new file with --uri-file; --qr also \
            shows it as a QR code for a phone.

            With --device A --device B the account is added to both keys, after checking that both can store it. --pskc \
            writes it to a key container (RFC 6030) for another key, encrypted with a password.
            """,
        examples: [
            Example("ykit oath add Dropbox:alice@example.com", "Add an account; ykit prompts for its secret."),
            Example(
                "ykit oath add Intranet:alice --generate --qr",
                "Generate a secret, and show it as a QR code for the service."),
        ])

    @Argument("name", help: "The account, or 'issuer:account'.") var name: String

    @Option(["--issuer", "-i"], help: "The issuer: the service that the account belongs to.") var issuer: String?

    @Option(["-o", "--type"], help: "totp or hotp.") var type: TypeChoice = .totp

    @Option(["--algorithm", "-a"], help: "sha1, sha256 or sha512.") var algorithm = "sha1"

    @Option(["--digits", "-d"], help: "Number of digits in a code: 6, 7 or 8.") var digits = 6

    @Option(["-P", "--period"], help: "How long a code is valid, in seconds.") var period = 30

    @Option(["--counter", "-c"], help: "Initial counter of a counter-based account.") var counter: UInt32 = 0

    @Flag(["--touch", "-t"], help: "Require a touch for each code.") var touch = false

    @OptionGroup var secret: AccountSecretOptions

    @Option(
        "--also-device <serial>",
        help: "Also add it to the key with this serial number, as with a second --device; may be repeated.")
    var alsoDevice: [String] = []

    @Option("--pskc <file>", help: "Write the account, encrypted, to this new PSKC file.") var pskc: String?

    @OptionGroup var file: FilePasswordOptions

    @Flag(["--force", "-f"], help: "Overwrite accounts with the same name.") var force = false

    @OptionGroup var password: PasswordOptions

    /// The two types of accounts.
    enum TypeChoice: String, CaseIterable, ExpressibleByArgument {
        case totp, hotp
    }

    func check() throws {
        if OATHAlgorithm(name: algorithm) == nil { throw UsageError("the algorithm must be sha1, sha256 or sha512") }
        if !(6...8).contains(digits) { throw UsageError("a code must have 6, 7 or 8 digits") }
        if period < 1 || period > Int(Int32.max) { throw UsageError("a period must be at least 1 s") }
    }

    func run(in run: Run) async throws -> Outcome<AccountOnKeys> {
        let algorithm = OATHAlgorithm(name: algorithm) ?? .sha1
        let type: OATHType = type == .hotp ? .hotp : .totp
        let id = OATHAccountID(
            issuer: issuer, name: name, period: type == .totp ? .seconds(period) : .seconds(30), type: type)
        let account = NewOATHAccount(
            id: id, secret: try secret.read(for: algorithm, run), algorithm: algorithm, digits: digits,
            needsTouch: touch, counter: counter)
        let container = try pskc.map { path throws(Explanation) in
            try FileOutput(file: path, force: nil)
        }
        let keys = try await keys(in: run)
        for key in keys { try await AccountWriter(service: key.service).check(account, force: force) }
        try container?.prepare(encrypted(account, keys.first?.serial, run))
        let made = try secret.disclosure(account, run)
        var failure: Explanation?
        var written: [String] = []
        for key in keys {
            let writer = AccountWriter(service: key.service)
            do {
                try await writer.put(account, force: force)
                if written.isEmpty {
                    try Disclosure.each([{ try container?.commit() }, { try made?.show() }])
                }
                try await writer.checkTouch(account)
            } catch {
                if written.isEmpty {
                    if let made { try Disclosure.keep([made], after: error, run.terminal) }
                    throw error
                }
                failure = Self.unfinished(account.id, written, key.serial ?? "", Explanation(error))
                break
            }
            written.append(key.serial ?? "")
        }
        let place = keys.count > 1 ? " to the keys \(written.joined(separator: " and "))" : ""
        let devices = keys.count > 1 ? written : nil
        var outcome = Outcome(
            AccountOnKeys(account: account.withoutSecret, devices: devices, container: pskc),
            "added '\(id.text.printable)'\(place)")
        outcome.answer.failure = failure
        return outcome
    }

    /// Returns the keys that receive the account, each opened and unlocked before any of them is changed.
    private func keys(in run: Run) async throws -> [(serial: String?, service: OATHService)] {
        let first = run.selection.device
        var found: [(serial: String?, service: OATHService)] = [(first, try await run.oath(password))]
        guard !alsoDevice.isEmpty else { return found }
        guard let first else { throw Explanation.usage("--also-device needs --device, which names the first key") }
        guard Set([first] + alsoDevice).count == alsoDevice.count + 1 else {
            throw Explanation.usage("the same key is given twice")
        }
        let why = "a recording, a plan and --virtual cover only one key: omit all but one --device"
        try run.refusePlan(why)
        guard run.replay == nil, run.software == nil else { throw Explanation.usage(why) }
        for serial in alsoDevice {
            found.append((serial, try await run.oath(password, of: run.keys.key(serial: serial))))
        }
        return found
    }

    private func encrypted(_ account: NewOATHAccount, _ serial: String?, _ run: Run) throws -> [UInt8] {
        let passphrase = SharedSecret(try file.newPassword("password of the key container", run.terminal))
        return try PSKC.write(
            [account], serial: serial, locking: .passphrase(passphrase), random: run.environment.random)
    }

    /// Explains that the first keys already have the account; it is not removed, since an account it replaced cannot be
    /// restored.
    private static func unfinished(
        _ id: OATHAccountID, _ done: [String], _ refusing: String, _ why: Explanation
    ) -> Explanation {
        Explanation(
            why.code, why.exit,
            "'\(id.text.printable)' is on key \(done.joined(separator: " and ")), but key \(refusing) refused it: \(why.message)",
            hint: "add it there with the same secret: ykit oath add NAME --device \(refusing)"
                + (why.hint.map { "; \($0)" } ?? ""))
    }
}

extension NewOATHAccount {
    /// The account as a key lists it.
    var withoutSecret: OATHAccount {
        OATHAccount(id: id, algorithm: algorithm, needsTouch: needsTouch, digits: digits)
    }
}
