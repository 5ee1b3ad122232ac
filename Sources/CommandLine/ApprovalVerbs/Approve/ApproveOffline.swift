// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
package import TerminalIO
import Verbs
package import YKApproval
import YKCrypto
import YKStore
import YKWire

enum OCRASecret: SecretKind {
    static let name = SecretName("secret", "secret", "YKIT_OCRA_SECRET")
}

enum OCRAPIN: SecretKind {
    static let name = SecretName("code-pin", "PIN that the suite requires", "YKIT_OCRA_PIN")
}

/// The hash function that a server uses to derive a challenge from a text.
enum TextHash: String, CaseIterable, ExpressibleByArgument {
    case sha1, sha256, sha512

    var algorithm: HashAlgorithm {
        switch self {
        case .sha1: .sha1
        case .sha256: .sha256
        case .sha512: .sha512
        }
    }
}

extension OCRAAccount: Report {
    package static let members: [Member<OCRAAccount>] = [
        Member("accountId") { $0.account.id },
        Member("name") { $0.account.name },
        Member("suite") { $0.suite.description },
    ]
}

/// Adds an account for offline codes.
struct ApproveAdd: Verb {
    static let about = About(
        "Add an account for offline codes (OCRA); ykit prompts for its secret.",
        discussion: """
            SUITE specifies how codes are computed (RFC 6287), such as OCRA-1:HOTP-SHA256-8:QH40. The secret is \
            entered in hexadecimal, as servers show it. It is sealed by the security key, and is in memory only while \
            a code is computed.
            """,
        examples: [Example("ykit approve add savings OCRA-1:HOTP-SHA256-8:QH40")])

    @Argument("name", help: "A name for the account.") var name: String

    @Argument("suite", help: "The suite.") var suite: String

    @Option("--serial", help: "The serial number of the server's token.") var serial: String?

    @Option("--issuer", help: "The issuer: the service that the account belongs to.") var issuer = ""

    @OptionGroup var given: SecretOptions<OCRASecret>
    @OptionGroup var path: ApproveStoreOptions
    @OptionGroup var key: StoreKeyOptions

    func check() throws {
        if let serial, !OCRAAccount.isSerial(serial) {
            throw UsageError("a serial number consists of up to 64 letters, digits, hyphens and underscores")
        }
    }

    func run(in run: Run) async throws -> Outcome<OCRAAccount> {
        let suite = try OCRASuite(suite)
        let book = try path.accounts(run)
        let free = ApprovalStore.freeName(name, in: book.accounts)
        guard free == name else {
            throw Explanation(
                "exists", .policy, "the name '\(name.printable)' is taken or cannot be shown",
                hint: "choose another name")
        }
        let account = OCRAAccount(suite, name: name, serial: serial, issuer: issuer, added: run.now)
        try book.checkRoom(for: account.account.id)
        let secret = try secret(run)
        let sealed = try await SealedAccounts.open(book, key, run)
        try sealed.put(account.stored, secret)
        return Outcome(account, "added '\(name.printable)' for offline codes")
    }

    private func secret(_ run: Run) throws -> SharedSecret {
        let secret =
            try given.source.given(run.terminal)
            ?? run.terminal.secret("secret", objection: "the secret must not be empty", orElse: OCRASecret.name.hint)
        let prefix = Array("seed://".utf8)
        var text = secret.value.copyBytes()
        defer { Secret.wipe(&text) }
        let digits = text.starts(with: prefix) ? text[prefix.count...] : text[...]
        guard var bytes = try? Hex.decode(String(decoding: digits, as: UTF8.self)), (10...128).contains(bytes.count)
        else {
            throw Explanation.usage("the secret must be 20 to 256 hexadecimal digits")
        }
        defer { Secret.wipe(&bytes) }
        return SharedSecret(Secret(bytes))
    }
}

/// Calculates an offline code for a text.
struct ApproveOffline: Verb {
    static let about = About(
        "Compute a code over a text, such as a payment: the code is valid for that text only.",
        discussion: """
            The text comes from --text, or from a QR code with --qr; it is shown, and the code is computed for exactly \
            this text. No server is contacted: enter the code where the text came from. With a suite that hashes the \
            text (QH40, QH64), the hash is SHA-1 or SHA-256, depending on its length, unless --hash is given. \
            --challenge answers a challenge unmodified, without hashing it. A TiQR login (tiqrauth://) also gives its \
            code.
            """,
        examples: [Example("ykit approve offline bank --text \"12.50 CHF to ACME\"")])
    typealias Reported = (account: ApprovalAccount, suite: OCRASuite, text: String?, challenge: String, code: String)
    static let answer = Shape<Reported>(
        Member("accountId") { $0.account.id }, Member("text", "null with --challenge") { $0.text },
        Member("challenge") { $0.challenge }, Member("code") { $0.code },
        Member("suite") { $0.suite.description })

    @Argument("account", help: "The account: its name, serial number or server, or part of one.")
    var account: EntryQuery?

    @Option("--text", help: "The text to sign.") var text: String?

    @Option("--challenge <challenge>", help: "The challenge, in the format that the suite requires.")
    var challenge: String?

    @Option(
        "--qr <file|camera>",
        help: "Read the text from this picture or file, - for standard input, or the camera.",
        completion: .input)
    var qr: String?

    @Option("--hash", help: "The hash function that turns the text into a challenge: sha1, sha256 or sha512.")
    var hash: TextHash?

    @OptionGroup var codePIN: SecretOptions<OCRAPIN>
    @OptionGroup var path: ApproveStoreOptions
    @OptionGroup var key: StoreKeyOptions

    func check() throws {
        if [text, challenge, qr].count(where: { $0 != nil }) != 1 {
            throw UsageError("give --text, --challenge or --qr")
        }
        if hash != nil, challenge != nil { throw UsageError("--challenge is not hashed: omit --hash") }
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let book = try path.accounts(run)
        let given = try challenge ?? text ?? LinkSource.read(nil, qr, run.terminal)
        if case .tiqrLogin(let login)? = try? ApprovalLink(given) { return try await answer(login, book, run) }
        if challenge == nil, case .text? = try? ApprovalLink(given) {
        } else if challenge == nil {
            throw Explanation.malformed(
                "this is not a text that can be signed", hint: "'ykit approve qr-type' shows what it is")
        }
        let stored = try book.one(account, of: [.ocra], "for offline codes", run)
        guard var account = OCRAAccount(stored) else {
            throw Explanation.malformed("account '\(stored.name.printable)' cannot be read")
        }
        let challenge = try challenge ?? account.suite.challenge(for: given, hashOf(account.suite))
        var input = OCRAInput(challenge)
        if account.suite.timeStep != nil { input.time = run.now }
        if account.suite.pinHash != nil { input.pin = try pin(run) }
        guard account.suite.sessionLength == nil else {
            throw Explanation(
                "not-supported", .notSupported,
                "the suite \(account.suite) requires session information, which is not available")
        }
        if account.suite.hasCounter { input.counter = account.counter }
        _ = try account.suite.response(Secret([0]), input)  // What is wrong is said before a touch is asked for.
        if self.challenge == nil { run.terminal.say("signing: \(given.printable)") }
        let sealed = try await SealedAccounts.open(book, key, run)
        try run.endPlan("calculate the code with the secret in \(book.file.path.printable)")
        guard let secret = try sealed.secret(of: stored) else { throw StoreError.recordChanged(stored.id) }
        if account.suite.hasCounter {
            account.counter += 1
            try sealed.put(account.stored, secret)
        }
        let code = try account.suite.response(secret.value, input)
        return Outcome(
            (
                account: stored, suite: account.suite, text: self.challenge == nil ? given : nil, challenge: challenge,
                code: code
            ), code)
    }

    /// The hash function whose hexadecimal output is the challenge.
    private func hashOf(_ suite: OCRASuite) -> HashAlgorithm {
        hash?.algorithm ?? (suite.challengeLength >= 64 ? .sha256 : .sha1)
    }

    private func answer(
        _ login: TiQRLogin, _ book: AccountStore, _ run: Run
    ) async throws -> Outcome<Reported> {
        let stored = try TiQRMatch.one(login, account?.text, book, run)
        let sealed = try await SealedAccounts.open(book, key, run)
        try run.endPlan("calculate the answer with the secret in \(book.file.path.printable)")
        guard let secret = try sealed.secret(of: stored.account) else {
            throw StoreError.recordChanged(stored.account.id)
        }
        let code = try run.tiqrClient().response(to: login, stored, secret.value)
        return Outcome(
            (account: stored.account, suite: stored.suite, text: nil, challenge: login.challenge, code: code), code)
    }

    private func pin(_ run: Run) throws -> SharedSecret {
        SharedSecret(try codePIN.source.read(run.terminal, asking: "PIN of the account"))
    }
}

/// Finds the account for a TiQR login.
enum TiQRMatch {
    static func one(_ login: TiQRLogin, _ query: String?, _ book: AccountStore, _ run: Run) throws -> TiQRAccount {
        let all = book.accounts.compactMap { TiQRAccount($0) }
        let named = query.map { query in all.filter { !ApprovalStore.matches(query, in: [$0.account]).isEmpty } } ?? all
        let found = named.filter { (try? $0.check(login)) != nil }
        guard !found.isEmpty else {
            throw Explanation(
                "no-such-account", .notFound,
                "no account is enrolled for \((login.identity.map { $0 + "@" } ?? "").printable)\(login.service.printable)",
                hint: "a login that you did not start may be someone else's; 'ykit approve accounts' lists yours")
        }
        let account = try AccountStore.one(
            found.map(\.account), "\(found.count) accounts are enrolled for this service; choose one", run)
        return found.first { $0.account.id == account.id } ?? found[0]
    }
}
