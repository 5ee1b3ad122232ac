// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKKeys
import YKOATH
import YKTransport
import YKWire

/// Adds an account from separate options.
struct OATHAdd: Verb {
    static let readsLines = true
    static let about = About(
        "Add an account. Asks for its secret.",
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
    typealias Reported = (account: OATHAccount, serials: [String]?, container: String?)
    static let answer = Shape<Reported>(
        Member("account") { $0.account }, Member("serials", "of several keys") { $0.serials },
        Member("pskc", "the key container") { $0.container })

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

    func run(in run: Run) async throws -> Outcome<Reported> {
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
                    let isStored = if case OATHError.unfinished = error { true } else { false }
                    if let made { try Disclosure.keep([made], after: error, isStored: isStored, run.terminal) }
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
            (account: account.withoutSecret, serials: devices, container: pskc),
            "added '\(id.text.printable)'\(place)")
        outcome.answer.failure = failure
        return outcome
    }

    /// Returns the keys that receive the account, each opened and unlocked before any of them is changed.
    private func keys(in run: Run) async throws -> [(serial: String?, service: OATHService)] {
        let first = run.options.device
        var found: [(serial: String?, service: OATHService)] = [(first, try await run.oath(password))]
        guard !alsoDevice.isEmpty else { return found }
        guard let first else { throw Explanation.usage("--also-device needs --device, which names the first key") }
        guard Set([first] + alsoDevice).count == alsoDevice.count + 1 else {
            throw Explanation.usage("the same key is given twice")
        }
        let why = "a recording, a plan and --virtual cover only one key: omit all but one --device"
        try run.refusePlan(why)
        guard run.replay == nil, !run.isVirtual else { throw Explanation.usage(why) }
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

enum AccountSecret: SecretKind {
    static let name = SecretName("secret", "secret", "YKIT_OATH_SECRET")
}

/// The source of a new account's secret.
struct AccountSecretOptions: ParsableArguments {
    static let title = "Secret Options"

    @OptionGroup var given: SecretOptions<AccountSecret>

    @Flag(["--generate", "-g"], help: "Generate a random secret.") var generate = false

    @Option("--uri-file <file>", help: "Write the account with the generated secret to this new file.")
    var uriFile: String?

    @Flag("--qr", help: "Show the account with the generated secret as a QR code on the terminal.") var qr =
        false

    init() {}

    func check() throws {
        if generate, given.isGiven { throw UsageError("--generate cannot be combined with a secret") }
        if uriFile != nil, !generate { throw UsageError("--uri-file needs --generate") }
        if qr, !generate { throw UsageError("--qr needs --generate: other secrets are not shown") }
    }

    /// Returns the decoded secret.
    func read(for algorithm: OATHAlgorithm, _ run: Run) throws -> Secret {
        if generate {
            var bytes = try run.environment.random.draw(algorithm.hash?.digestSize ?? 20, secret: true)
            defer { Secret.wipe(&bytes) }
            return Secret(bytes)
        }
        return try Self.decode(try given.source.read(run.terminal, asking: "secret of the account (base 32)"))
    }

    /// Returns the disclosure of an account whose secret was generated.
    func disclosure(_ account: NewOATHAccount, _ run: Run) throws -> Disclosure? {
        guard generate else { return nil }
        return try run.perform {
            try Disclosure(
                "enroll this with the service", SharedSecret(Secret(utf8: OtpauthURI.text(account))), in: uriFile,
                as: try qr ? QRDrawing(isPicture: false, run.stage.programs) : nil,
                orElse: "write it to a file with --uri-file",
                run.terminal)
        }
    }

    private static func decode(_ text: borrowing Secret) throws -> Secret {
        var bytes = text.copyBytes()
        defer { Secret.wipe(&bytes) }
        guard var secret = try? Base32.decode(String(decoding: bytes, as: UTF8.self)), !secret.isEmpty else {
            throw Explanation.usage(
                "the secret is not base 32", hint: "letters A to Z and digits 2 to 7, as the service prints it")
        }
        defer { Secret.wipe(&secret) }
        return Secret(secret)
    }
}
