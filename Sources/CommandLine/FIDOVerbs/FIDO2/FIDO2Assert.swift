// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import Synchronization
package import TerminalIO
import Verbs
package import YKFIDO
import YKKeys
import YKTransport
import YKWire

/// Requests an assertion from a credential.
struct FIDO2Assert: Verb {
    static let about = About(
        "Get an assertion from a credential. Requires a touch.",
        discussion: """
            For yourself: ykit fido2 assert --rp example.com. For a server: --origin and --options with its JSON \
            (WebAuthn PublicKeyCredentialRequestOptionsJSON, bare or under "publicKey"); send the member "credential" \
            of the JSON answer back to it. With --format libfido2, --options is the input of \
            'fido2-assert -G', and the answer its output.
            """,
        examples: [
            Example("ykit fido2 assert --rp example.com", "Sign in with a passkey on the key."),
            Example(
                "ykit fido2 assert --options request.json --origin https://example.com",
                "Use the options of a web server."),
        ])

    @OptionGroup var ask: AssertionOptions

    @Option("--user", help: "The account to sign in with: its name or identifier. No other one is used.")
    var user: String?

    @Flag("--resident", help: "The file of --format libfido2 names no credential (fido2-assert -r).")
    var resident = false

    @OptionGroup var ceremony: CeremonyOptions<AssertionFormats>
    @OptionGroup var pin: PINOptions

    func check(with global: GlobalOptions) throws { try ceremony.check([("--rp", ask.rp)], pin, global) }

    func run(in run: Run) async throws -> Outcome<AssertionReport> {
        if ceremony.format == .libfido2 { return try await libFIDO2Outcome(in: run) }
        let wanted =
            try ceremony.options.map { try PublicKeyCredentialRequestOptions(parsing: try Files.read($0)) }
            ?? ask.read(run)
        let site = try ceremony.site(ask.rp)
        let rpID = try run.relyingPartyID(wanted.rpID, at: site)
        let what = "sign in at \(rpID.printable)"
        let service = try await run.openTouchedFIDO(pin, for: what)
        if ask.payment { try await service.requirePayments() }
        if !ask.noTouch { run.announce(to: what) }
        let choice = AccountChoice(user, run.terminal)
        let signed = try await sign(wanted, client(service, site), choice, rpID: rpID)
        try await choice.confirm(signed, rpID: rpID, of: service)
        let report = AssertionReport(signed: signed, rpID: rpID, accounts: choice.accounts)
        return Outcome(report, report.details)
    }

    private func client(_ service: FIDOService, _ site: Origin) -> WebAuthnClient {
        var client = WebAuthnClient(service: service, origin: site)
        client.usesU2F = ceremony.usesU2F
        if ask.noTouch { client.extensions.append(WithoutTouch()) }
        return client
    }

    private func sign(
        _ wanted: PublicKeyCredentialRequestOptions, _ client: WebAuthnClient, _ choice: AccountChoice, rpID: String
    ) async throws -> AuthenticationResponse {
        do { return try await client.get(wanted, choosing: choice.choose) } catch {
            var failure = choice.problem ?? Explanation(error)
            if choice.problem == nil, error == .key(.noCredentials) {
                failure.message = "the key has no credential for \(rpID.printable)"
            }
            throw failure
        }
    }
}

/// The options of an assertion.
struct AssertionOptions: ParsableArguments {
    @Option("--rp <id>", help: "The relying party, a domain name such as example.com.") var rp: String?

    @Option(
        "--credential <credential>",
        isBase64URL: true,
        help: "The credential to use, base64url; may be repeated (default: those the key stores).")
    var credential: [String] = []

    @Option("--challenge <bytes>", isBase64URL: true, help: "The challenge, base64url; random by default.")
    var challenge: String?

    @Option(
        "--uv",
        help: "User verification, by PIN or fingerprint: required, preferred (the default) or discouraged.")
    var uv: VerificationChoice?

    @Option(
        "--salt <bytes>",
        isBase64URL: true,
        help:
            "Derive a secret from this salt of 32 bytes, hexadecimal or base64url; give it twice for two (hmac-secret)."
    )
    var salt: [String] = []

    @Flag("--cred-blob", help: "Request the bytes stored with the credential.") var credBlob = false

    @Flag("--payment", help: "Ask whether other sites may use the credential for payments (thirdPartyPayment).")
    var payment = false

    @Flag("--no-touch", help: "Do not wait for a touch; few sites accept the answer.") var noTouch = false

    func check() throws {
        if salt.count > 2 { throw UsageError("at most two salts can be given") }
    }

    /// The decoded salts.
    var salts: HMACSecretSalts? {
        get throws(Explanation) {
            var bytes: [[UInt8]] = []
            for text in salt { bytes.append(try BytesArgument.hexOrBase64(text, "--salt", count: 32)) }
            return bytes.first.flatMap { HMACSecretSalts($0, bytes.dropFirst().first) }
        }
    }

    /// The decoded credential ids.
    var credentials: [[UInt8]] {
        get throws(Explanation) {
            var ids: [[UInt8]] = []
            for text in credential { ids.append(try BytesArgument.base64(text, "--credential")) }
            return ids
        }
    }

    /// Returns the options as a relying party would send them.
    func read(_ run: Run) throws -> PublicKeyCredentialRequestOptions {
        let challenge =
            try challenge.map { try BytesArgument.base64($0, "--challenge") }
            ?? run.environment.random.draw(32, secret: false)
        var options = PublicKeyCredentialRequestOptions(
            rpID: rp, challenge: challenge,
            allowCredentials: try credentials.map { PublicKeyCredentialDescriptor(id: $0) })
        options.userVerification = uv?.requirement ?? .preferred
        if let salts = try salts {
            var inputs: JSONValue = ["salt1": .string(Base64.encodeURL(salts.first))]
            if let second = salts.second, var object = inputs.object {
                object["salt2"] = .string(Base64.encodeURL(second))
                inputs = .object(object)
            }
            options.extensions["hmacGetSecret"] = inputs
        }
        if credBlob { options.extensions["getCredBlob"] = true }
        if payment { options.extensions["thirdPartyPayment"] = true }
        return options
    }
}

/// Requests an assertion without a touch.
struct WithoutTouch: ClientExtension {
    func prepare(_ request: inout AssertionRequest, _ ceremony: RequestCeremony) throws(WebAuthnError) {
        request.requiresPresence = false
    }
}

/// An assertion, and the relying party that it is for.
struct AssertionReport: Report {
    let signed: AuthenticationResponse
    let rpID: String
    let accounts: [FIDOUser]
    static let members: [Member<Self>] = [
        Member(
            "credential", "WebAuthn's AuthenticationResponseJSON",
            rows: { [["credential", Base64.encodeURL($0.signed.id)]] + ($0.account.map { [["account", $0]] } ?? []) }
        ) { $0.signed.json },
        Member("rpId", title: "at") { $0.rpID }, Member("credentialId") { Base64.encodeURL($0.signed.id) },
        Member("userId") { $0.userID }, Member("accounts", "the accounts to choose from") { $0.accounts },
        Member(
            "flags", AuthenticatorData.Flags.about, title: "user",
            line: { $0.signed.authenticatorData.flags.userState }
        ) { $0.signed.authenticatorData.flags.names },
        Member(
            "counter",
            rows: {
                [["counter", String($0.signed.authenticatorData.counter)]] + $0.signed.clientExtensionResults.rows
            }
        ) { $0.signed.authenticatorData.counter },
    ]

    private var userID: String? { signed.userHandle.map { Base64.encodeURL($0) } }

    private var account: String? { accounts.first { $0.id == signed.userHandle }?.words ?? userID }
}

extension JSONValue.Object {
    /// A row for each extension's result.
    var rows: [[String]] { members.map { [$0.key.printable, $0.value.text.printable] } }
}

extension AuthenticatorData.Flags {
    /// The description of a member that lists flags.
    static let about = "of the authenticator data: UP, UV, BE, BS, AT, ED"
}

/// The options common to registration and assertion: the origin, the request and the format.
struct CeremonyOptions<Formats: CeremonyFormats>: ParsableArguments {
    @Option("--origin", help: "The origin, https://RP by default.") var origin: String?

    @Option("--options <file>", help: "The WebAuthn options: a file, or - for standard input.", completion: .input)
    var options: String?

    @Option("--format", among: Formats.values, help: Formats.help) var format: ExchangeFormat = .webauthn

    @Flag("--u2f", help: "Use U2F even if the key supports FIDO2.") var usesU2F = false

    /// Refuses options that conflict.
    ///
    /// - Parameter named: The options that are required unless --options gives a file.
    func check(_ named: [(name: String, value: String?)], _ pin: PINOptions, _ global: GlobalOptions) throws {
        func names() -> String { named.map(\.name).joined(separator: " and ") }
        if options == nil, named.contains(where: { $0.value == nil }) {
            throw UsageError("missing \(names()), or --options FILE")
        }
        if options != nil, named.contains(where: { $0.value != nil }) {
            throw UsageError("--options names the relying party: omit \(names())")
        }
        if options != nil, format == .webauthn, origin == nil {
            throw UsageError("--options requires --origin, the site that asks")
        }
        if format == .libfido2, global.json { throw UsageError("--format libfido2 and --json cannot be combined") }
    }

    /// The given origin, or else that of the relying party.
    func site(_ rp: String?) throws -> Origin {
        if let origin { return try Origin(origin) }
        do { return try Origin("https://\(rp ?? "")") } catch {
            throw Explanation.usage("'\((rp ?? "").printable)' is not a domain name such as example.com")
        }
    }
}

extension Run {
    /// The relying party identifier that a site may use. Warns if an outdated list permits a parent domain.
    func relyingPartyID(_ id: String?, at site: Origin) throws(WebAuthnError) -> String {
        let list = PublicSuffixList.newest
        let rpID = try site.relyingPartyID(id, by: list)
        if rpID != site.host, let advice = list.outdated(at: now).map({ Explanation($0).inOneLine }) {
            terminal.warn("public-suffix", "'\(rpID.printable)' may have become a public suffix: \(advice)")
        }
        return rpID
    }
}

/// Chooses one of the accounts that a key stores for a relying party: the named one, or else the one that the user
/// picks at the terminal. An account is never chosen automatically.
final class AccountChoice: Sendable {
    private let name: String?
    private let terminal: Terminal
    private let state = Mutex<(accounts: [FIDOUser], problem: Explanation?)>(([], nil))

    init(_ name: String?, _ terminal: Terminal) { (self.name, self.terminal) = (name, terminal) }

    /// The accounts to choose from.
    var accounts: [FIDOUser] { state.withLock { $0.accounts } }
    /// Why none was chosen.
    var problem: Explanation? { state.withLock { $0.problem } }

    /// Returns the index of the chosen account, or `nil`.
    @Sendable func choose(_ assertions: [Assertion]) async -> Int? {
        let users = assertions.map { $0.response.user ?? FIDOUser(id: []) }
        state.withLock { $0.accounts = users }
        do {
            return try name.map { try Self.one($0, of: users) } ?? ask(users)
        } catch {
            state.withLock { $0.problem = Explanation(error) }
            return nil
        }
    }

    /// Checks that the only credential that signed belongs to the named account.
    ///
    /// A key returns the account name only if it has several accounts (CTAP 2.1 §6.2.2), so the name of a single one is
    /// looked up among the stored credentials, which requires the PIN.
    func confirm(_ signed: AuthenticationResponse, rpID: String, of service: FIDOService) async throws {
        guard let name, accounts.isEmpty else { return }
        var user = FIDOUser(id: signed.userHandle ?? [])
        if signed.userHandle != nil, !user.isCalled(name), try await service.info().hasPIN {
            let stored = try await service.discoverableCredentials(rpID: rpID)
            user = stored.first { $0.credential.id.id == signed.id }?.credential.user ?? user
        }
        guard signed.userHandle != nil, user.isCalled(name) else { throw Self.missing(name, [user]) }
        state.withLock { $0.accounts = [user] }
    }

    private static func one(_ name: String, of users: [FIDOUser]) throws(Explanation) -> Int {
        switch AccountMatch(named: name, among: users) {
        case .one(let only): return only
        case .none: throw missing(name, users)
        case .several(let found):
            throw Explanation(
                "several-accounts", .severalDevices, "\(found.count) accounts are called '\(name.printable)'",
                hint: "give the identifier of one: --user ID", candidates: found.map { users[$0].idWords })
        }
    }

    private static func missing(_ name: String, _ users: [FIDOUser]) -> Explanation {
        Explanation(
            "no-such-account", .notFound, "no account matches '\(name.printable)'",
            hint: "keys reveal names only after the PIN: use --uv required, or give the identifier",
            candidates: users.filter { !$0.id.isEmpty }.map(\.words))
    }

    /// Asks the user. Accounts with the same name are shown with their identifiers, which differ within a relying
    /// party.
    private func ask(_ users: [FIDOUser]) throws -> Int {
        let lines = users.map { user in
            users.filter { $0.words == user.words }.count == 1
                ? user.words
                : user.idWords
        }
        guard terminal.hasPerson else {
            throw Explanation(
                "several-accounts", .severalDevices, "the key stores \(users.count) accounts, choose one",
                hint: "--user NAME, or the identifier of one", candidates: users.map(\.idWords))
        }
        return try terminal.pick("which account?", among: lines)
    }
}

extension FIDOUser {
    /// A short description of the account.
    var words: String { (name ?? displayName ?? Base64.encodeURL(id)).printable }

    /// The name, if any, and the identifier.
    fileprivate var idWords: String {
        name == nil && displayName == nil ? words : "\(words) (\(Base64.encodeURL(id)))"
    }
}

extension FIDOUser: Report {
    package static let members: [Member<Self>] = [
        Member("id") { Base64.encodeURL($0.id) }, Member("name") { $0.name },
        Member("displayName") { $0.displayName },
    ]
}
