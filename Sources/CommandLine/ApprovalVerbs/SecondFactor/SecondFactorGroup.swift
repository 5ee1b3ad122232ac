// SPDX-License-Identifier: Apache-2.0

import Applications
package import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKFIDO
import YKHTTP
import YKHardware
import YKPrivacyIDEA
import YKProtocols
import YKSecondFactor
import YKStore
import YKTransport
import YKWire

/// Commands with which a service manages its users' second factors.
package struct SecondFactorGroup: ParsableCommand {
    package static let about = About(
        "Second factors of a service's users, at a privacyIDEA server.",
        subcommands: [
            "login": SecondFactorLogIn.self, "logout": SecondFactorLogOut.self, "status": SecondFactorShow.self,
            "send-pin": SecondFactorSendPIN.self, "verify-pin": SecondFactorVerifyPIN.self,
            "register-key": SecondFactorRegisterKey.self, "verify-key": SecondFactorVerifyKey.self,
            "add-user": SecondFactorAddUser.self, "enable": SecondFactorEnable.self,
            "disable": SecondFactorDisable.self, "phone": SecondFactorPhone.self,
            "login-test": SecondFactorLogInTest.self, "device": SecondFactorDeviceGroup.self,
            "trust": SecondFactorTrustGroup.self, "api-key": SecondFactorAPIKeyGroup.self,
        ],
        examples: [Example("ykit 2fa status alice --server https://mfa.example.com")])

    package init() {}
}

/// Commands for the keys registered for a user.
struct SecondFactorDeviceGroup: ParsableCommand {
    static let about = About(
        "The keys that are registered for a user.",
        subcommands: ["status": SecondFactorDeviceStatus.self, ["rm", "delete"]: SecondFactorDeviceRemove.self],
        examples: [Example("ykit 2fa device status alice")])
}

/// Commands for devices that the server remembers.
struct SecondFactorTrustGroup: ParsableCommand {
    static let about = About(
        "Devices that the server remembers, so that they need no second factor.",
        subcommands: [
            "allow": SecondFactorTrustAllow.self, "add": SecondFactorTrustAdd.self,
            "status": SecondFactorTrustStatus.self, "check": SecondFactorTrustCheck.self,
            ["rm", "delete"]: SecondFactorTrustRemove.self,
        ],
        examples: [Example("ykit 2fa trust status alice")])
}

/// Commands for the API keys of services.
struct SecondFactorAPIKeyGroup: ParsableCommand {
    static let about = About(
        "The API keys of services.",
        subcommands: [
            "create": SecondFactorAPIKeyCreate.self, "rotate": SecondFactorAPIKeyRotate.self,
            "list": SecondFactorAPIKeyList.self,
        ],
        examples: [Example("ykit 2fa api-key list")])
}

/// The server, and the key that seals its sessions.
struct SecondFactorOptions: ParsableArguments {
    @OptionGroup var access: SecondFactorAccess
    @OptionGroup var key: StoreKeyOptions
}

/// A verb with session and key options.
protocol SecondFactorVerb: Verb {
    associatedtype Reported
    var server: SecondFactorOptions { get }
    /// Whether an account is required, or an API key is enough.
    static var needsAccount: Bool { get }
    /// The user that the verb names; `nil` for verbs without a user.
    var subject: String? { get }
    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<Reported>
}

extension SecondFactorVerb {
    static var needsAccount: Bool { true }
    var subject: String? { nil }
    var ownPIN: CredentialKind? { .fidoPIN }

    func run(in run: Run) async throws -> Outcome<Reported> {
        var connection = try await server.access.connect(run, server.key, needsAccount: Self.needsAccount)
        // Checked before any question is asked or key is opened.
        if let subject { try connection.service.check(subject) }
        return try await self.run(&connection, run)
    }
}

/// A verb about a user.
protocol SecondFactorUserVerb: SecondFactorVerb {
    var user: String { get }
}

extension SecondFactorUserVerb {
    var subject: String? { user }
}

enum AccountPassword: SecretKind {
    static let name = SecretName("password", "account's password", "YKIT_2FA_PASSWORD")
}

enum APIKey: SecretKind {
    // An administrator's token lists all their rights.
    static let name = SecretName("api-key", "API key (pi_…) or token", "YKIT_2FA_API_KEY", limit: 1 << 16)
}

/// The privacyIDEA server, and the account or API key used there.
struct SecondFactorAccess: ParsableArguments {
    static let title = "Server Options"

    @Option("--server <url>", variable: "YKIT_2FA_SERVER", help: "The server's address; or set YKIT_2FA_SERVER.")
    var server: String?

    @Option("--realm", help: "The users' realm, if it is not the server's default.") var realm: String?

    @OptionGroup var trusted: ServerTrustOptions

    @Option("--audit-key <file>", help: "Require every answer to be signed with this audit key, a PEM file.")
    var auditKey: String?

    @Option("--account <name>", help: "The administrator or service account to use (default: admin).")
    var account = "admin"

    @OptionGroup var password: SecretOptions<AccountPassword>
    @OptionGroup var apiKey: SecretOptions<APIKey>

    @Flag("--passkey", help: "Log in with a passkey of the key.") var passkey = false

    @Option("--origin", help: "The origin for WebAuthn (default: the server's own).") var origin: String?

    @Option("--store <file>", help: "The store of secrets (default: $XDG_DATA_HOME/ykit/2fa.json).") var store: String?

    /// Whether the command line asks for a new login.
    private var logsIn: Bool { passkey || password.isGiven }

    /// Connects with the credentials in the options, or with a stored session if there are none. A stored session
    /// includes its server, so it is used if no server is given, regardless of environment variables. If a server is
    /// given, a password in an environment variable takes precedence, with a notice.
    ///
    /// - Parameters:
    ///   - needsAccount: Whether an account is required, or an API key is enough.
    func connect(
        _ run: Run, _ key: StoreKeyOptions, needsAccount: Bool = true
    ) async throws -> SecondFactorConnection {
        let vault = try vault(run, key)
        guard let url = try url() else {
            guard !logsIn else { throw Explanation.usage("missing server: --server URL or YKIT_2FA_SERVER") }
            return try await kept(try vault.onlySession(), vault, key, run)
        }
        var connection = try make(url, try trusted.trust(run, risk: "read the password"), vault, key, run)
        if let secret = try apiKey.source.given(run.terminal) { connection.use(secret) }
        if passkey {
            try await connection.service.logIn(passkey: try await connection.key(run, "log in"))
        } else if let password = try password.source.given(run.terminal) {
            if !logsIn, try vault.session(at: connection.url) != nil {
                run.terminal.notice("YKIT_2FA_PASSWORD is set, so the stored login is not used")
            }
            try await connection.service.logIn(account, password: password.value)
        } else if needsAccount, !connection.hasAccount {
            if let record = try vault.session(at: connection.url) { return try await kept(record, vault, key, run) }
            try await connection.service.logIn(account, password: try askPassword(run).value)
        }
        return connection
    }

    /// The given address.
    func url() throws -> HTTPURL? { try server.map { try HTTPURL($0) } }

    /// Returns a connection for a new login, and the password if one was given.
    func anonymous(
        _ run: Run, _ key: StoreKeyOptions
    ) throws -> (SecondFactorConnection, password: SharedSecret?) {
        guard let url = try url() else { throw Explanation.usage("missing server: --server URL or YKIT_2FA_SERVER") }
        let connection = try make(
            url, try trusted.trust(run, risk: "read the password"), vault(run, key), key, run)
        return (connection, passkey ? nil : try password.source.given(run.terminal))
    }

    /// Asks for the account's password.
    func askPassword(_ run: Run) throws -> SharedSecret {
        try run.terminal.secret("password of '\(account.printable)'", orElse: password.source.hint)
    }

    private func kept(
        _ record: StoreRecord, _ vault: SecondFactorVault, _ key: StoreKeyOptions, _ run: Run
    ) async throws -> SecondFactorConnection {
        let (session, token) = try await vault.token(of: record, at: run.now)
        var connection = try make(session.server, session.trust, vault, key, run)
        connection.service.server.use(token: token)
        connection.hasAccount = true
        if let secret = try apiKey.source.given(run.terminal) { connection.use(secret) }
        return connection
    }

    /// The store, opened and sealed with the key in use.
    func vault(_ run: Run, _ key: StoreKeyOptions) throws -> SecondFactorVault {
        SecondFactorVault(
            StoreFile(
                try store ?? UserFolder.store(SecondFactorVault.service, run), service: SecondFactorVault.service),
            isWritable: run.writesStores, run.environment.random,
            open: { try await run.open($0, key, for: "open the store of second factors") },
            seal: { try await run.seal($0, key, NewStoreKeyOptions(), besides: [], of: "store of second factors") })
    }

    private func make(
        _ url: HTTPURL, _ trust: HTTPTrust, _ vault: SecondFactorVault, _ key: StoreKeyOptions, _ run: Run
    ) throws -> SecondFactorConnection {
        var client = try run.privacyIDEA(url, trust)
        if let auditKey { client.auditKey = try PublicKeyFile.read(auditKey) }
        let service = SecondFactor(client, realm: realm, clock: run.environment.clock)
        return SecondFactorConnection(
            service: service, url: url, trust: trust, origin: origin ?? url.origin, vault: vault, key: key)
    }
}

/// A server with the credentials for it.
struct SecondFactorConnection {
    var service: SecondFactor
    let url: HTTPURL
    let trust: HTTPTrust
    /// The WebAuthn origin for keys, which cannot be an IP address.
    let origin: String
    let vault: SecondFactorVault
    /// The options of the key.
    let key: StoreKeyOptions
    /// Whether it uses an account, which may administer the server.
    var hasAccount = false
    /// The API key given with the command.
    private(set) var apiKey: SharedSecret?

    /// Uses a client's API key or an account's token.
    mutating func use(_ secret: SharedSecret) {
        if secret.value.withBytes({ $0.starts(with: Array("pi_".utf8)) }) {
            apiKey = secret
            service.server.use(apiKey: secret)
        } else {
            service.server.use(token: secret)
            hasAccount = true
        }
    }

    /// The attached key, at the server's origin.
    func key(_ run: Run, _ what: String) async throws -> WebAuthnClient {
        let origin = try Origin(origin)
        let service = try await run.openTouchedFIDO(key.pin, for: "\(what) at \(origin.host)")
        run.announce(to: "\(what) at \(origin.description.printable)")
        return WebAuthnClient(service: service, origin: origin)
    }
}

/// A public key in a file.
enum PublicKeyFile {
    /// Reads a SubjectPublicKeyInfo in PEM.
    static func read(_ path: String) throws -> PublicKey {
        guard let der = PEM.contents("PUBLIC KEY", in: try Files.read(path)).first,
            let key = try? PublicKey(subjectPublicKeyInfo: der)
        else { throw Explanation.malformed("\(path.printable) is not a PEM public key") }
        return key
    }
}
