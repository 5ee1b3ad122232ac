// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKArculus
import YKCrypto
import YKFIDO
import YKHTTP
import YKProtocols
import YKUse
import YKWire

/// The server, and the account there.
struct ArculusServerOptions: ParsableArguments {
    static let format = """
        FILE is a JSON object that describes the server:
        {"url": "https://fido.example.com", "paths": "arculus", "rpId": "example.com", "pins": ["sha256/…"]}
        paths is arculus, arculus-register, arculus-short or conformance; the four endpoints can be given one by one \
        (registrationBeginEndpoint, …), and dialect (arculus or conformance), origin, authorities (a file in PEM), \
        timeout (seconds) and limit (bytes).
        """

    @Option("--server <file>", help: "The server: a file that describes it, or its address.") var server: String

    @Option("--user", help: "The account's name at the server.") var user: String

    /// Reads the description; a URL stands for a server with the default paths.
    func read() throws -> ArculusServer {
        if server.contains(bytesOf: "://") { return try ArculusServer(server, .arculus) }
        var description = try ArculusServer(parsing: try Files.read(server))
        if let file = description.trust.authorities, !file.hasPrefix("/") {
            let folder = server.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            description.trust.authorities = (folder + [file[...]]).joined(separator: "/")
        }
        return description
    }
}

extension ArculusServer {
    /// The relying party: by default the host.
    var relyingPartyID: String { rpID ?? origin.host }
}

extension PINOptions {
    /// Returns the PIN of an operation: given, or asked for with the remaining retries shown.
    func arculus(_ reason: String, _ run: Run) -> ArculusPIN {
        let credential = run.fidoCredential(self, for: reason)
        run.pins = credential
        return ArculusPIN(asking: { await credential.pin($0) }, outcome: { credential.takeNote($0) })
    }
}

/// Registers a card with a server.
struct ArculusRegister: Verb {
    static let about = About(
        "Register the card at a server, for an account.",
        discussion: """
            Begins at the server, creates a credential on the card, and completes at the server.

            \(ArculusServerOptions.format)
            """,
        examples: [Example("ykit arculus register --server https://login.example.com --user alice")])
    static let answer = Shape<Registered>().following(ArculusResult.ok)

    @OptionGroup var server: ArculusServerOptions

    @Option("--display-name", help: "The account's display name.") var displayName: String?

    @Flag("--reset", help: "Reset the card first: this deletes all its credentials and sets the given PIN.")
    var reset = false

    @Flag(["--force", "-f"], help: "Do not ask before the reset, or before replacing a credential.")
    var force = false

    @Flag("--resident", help: "Store the credential on the card: a passkey.") var resident = false

    @Option(
        "--attestation", among: [.none, .indirect, .direct],
        help: "Attestation conveyance: none, indirect or direct.")
    var attestation: AttestationChoice?

    @Option(
        "--info <file>",
        help: "Data about this device for the server to store, a JSON object: a file, or - for standard input.",
        completion: .input)
    var info: String?

    @OptionGroup var holding: ArculusCardOptions

    /// A registered user.
    struct Registered: Report {
        let user: String
        let server: ArculusServer
        let made: RegistrationResponse
        let isReset: Bool
        static let members: [Member<Self>] = [
            Member("user") { $0.user }, Member("rpId") { $0.server.relyingPartyID },
            Member("credentialId") { Base64.encodeURL($0.made.id) }, Member("aaguid") { $0.made.aaguid },
            Member("credential", "what the server expects") { $0.made.arculusJSON },
            Member("reset", "whether the card was reset first") { $0.isReset },
        ]
    }

    func run(in run: Run) async throws -> Outcome<Registered> {
        let field = CardPresence(run)
        return try await field.outcome {
            let description = try server.read()
            let wishes = try wishes()
            let fresh = reset ? try await Self.confirmed(holding.pin, force: force, run) : nil
            let client = ArculusClient(
                description, card: field.card(retries: holding.retries, replaces: force),
                http: try run.http())
            let made = try await client.registerUser(
                server.user, displayName: displayName ?? server.user,
                pin: holding.pin.arculus("register '\(server.user.printable)' at \(description.origin)", run),
                wishes: wishes,
                afterResetTo: fresh)
            let id = Base64.encodeURL(made.id)
            return Outcome(
                Registered(user: server.user, server: description, made: made, isReset: reset),
                "'\(server.user.printable)' is registered at \(description.origin), credential \(id)")
        }
    }

    private func wishes() throws -> ArculusRegistrationOptions {
        var wishes = ArculusRegistrationOptions()
        wishes.attestation = attestation?.conveyance ?? .none
        wishes.residentKey = resident ? .required : nil
        guard let info else { return wishes }
        guard let object = (try? JSONValue(parsing: try Files.read(info)))?.object else {
            throw Explanation.usage("--info: \(info.printable) is not a JSON object")
        }
        wishes.registrationInfo = object
        return wishes
    }

    /// Returns the PIN to set after the reset, once the user has confirmed the reset twice.
    private static func confirmed(_ pin: PINOptions, force: Bool, _ run: Run) async throws -> SharedSecret {
        try run.confirm("all credentials on the card would be permanently lost: reset it?", unless: force)
        try run.confirm(
            typing: "reset", "this permanently ends access to every account registered with this card", unless: force)
        let source = run.source(of: .fidoPIN, pin)
        let question = TerminalQuestion(
            asking: "PIN after the reset, six digits or more", objection: "a PIN is needed", orElse: source.hint)
        return try await run.obtain(.fidoPIN, source, question, isNew: true)
    }
}

extension RegistrationResponse {
    /// The model of the card.
    var aaguid: String { Hex.uuid(attestationObject.authenticatorData.credential?.aaguid ?? []) }
}

/// Signs in to a server with a card.
struct ArculusAuthenticate: Verb {
    static let about = About(
        "Sign in at a server with the card.",
        discussion: """
            Begins at the server, signs with a credential on the card, and completes at the server.

            \(ArculusServerOptions.format)
            """,
        examples: [Example("ykit arculus authenticate --server https://login.example.com --user alice")])
    static let answer = Shape(
        [Item<String>("user")], [Item<ArculusServer>("rpId") { $0.relyingPartyID }],
        [
            Item<AuthenticationResponse>("credentialId") { Base64.encodeURL($0.id) },
            Item("credential", "what the server expects") { $0.arculusJSON },
        ]
    ).following(ArculusResult.ok)

    @OptionGroup var server: ArculusServerOptions

    @OptionGroup var holding: ArculusCardOptions

    func run(in run: Run) async throws -> Outcome<(String, ArculusServer, AuthenticationResponse)> {
        let field = CardPresence(run)
        return try await field.outcome {
            let description = try server.read()
            let client = ArculusClient(
                description, card: field.card(retries: holding.retries),
                http: try run.http())
            let signed = try await client.authenticateUser(
                server.user, pin: holding.pin.arculus("sign in at \(description.origin)", run))
            let id = Base64.encodeURL(signed.id)
            return Outcome(
                (server.user, description, signed),
                "'\(server.user.printable)' is signed in at \(description.origin) with credential \(id)")
        }
    }
}
