// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKArculus
import YKFIDO
import YKWire

/// Creates a credential for a backend.
struct ArculusCardRegister: Verb {
    static let about = About(
        "Create a credential on the card; nothing leaves this machine.",
        discussion: """
            --options is what the backend got from the server; or give --rp, --user, --challenge and --resident \
            instead. The output is what the server expects:

            curl … /attestation/options | ykit arculus card register --options - --origin https://example.com |
              curl … --json @- /attestation/result
            """,
        examples: [Example("ykit arculus card register --origin https://example.com --options create.json")])
    typealias Reported = (made: RegistrationResponse, rpID: String)
    static let answer = Shape<Reported>(
        Member("credential", "what the server expects") { $0.made.arculusJSON }, Member("rpId") { $0.rpID },
        Member("credentialId") { Base64.encodeURL($0.made.id) }, Member("aaguid") { $0.made.aaguid }
    ).following(ArculusResult.ok)

    @Option("--origin", help: "The client's origin, as the server expects it.") var origin: String

    @Option("--options <file>", help: "The backend's reply: a file, or - for standard input.", completion: .input)
    var options: String?

    @Option("--rp <id>", help: "The relying party, a domain name.") var rp: String?

    @Option("--user", help: "The account's name.") var user: String?

    @Option("--display-name", help: "The account's display name.") var displayName: String?

    @Option("--challenge <bytes>", isBase64URL: true, help: "The challenge, base64url.") var challenge: String?

    @Flag("--resident", help: "Store the credential on the card: a passkey.") var resident = false

    @OptionGroup var output: ArculusOutput

    @OptionGroup var holding: ArculusCardOptions

    func check() throws {
        let isSpelled = rp != nil && user != nil && challenge != nil
        guard (options != nil) != isSpelled, isSpelled || rp == nil && user == nil && challenge == nil else {
            throw UsageError("missing --options FILE, or --rp, --user and --challenge")
        }
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let field = CardPresence(run)
        let file = try output.open(run)
        return try await field.outcome {
            let site = try Origin(origin)
            let made = try await make(
                field.card(retries: holding.retries, replaces: output.replacing.force), site, run)
            return ArculusOutput.outcome(
                (made: made, rpID: rp ?? site.host), made.arculusJSON, in: file, run.terminal)
        }
    }

    private func make(_ card: ArculusCard, _ site: Origin, _ run: Run) async throws -> RegistrationResponse {
        let secret = holding.pin.arculus("create a credential for \(site)", run)
        guard let rp, let user, let challenge else {
            let wanted = try ArculusOptions.creation(fromBackend: try Files.read(options ?? "-"))
            return try await card.register(wanted, origin: site, pin: secret)
        }
        return try await card.registerCardOnly(
            pin: secret, username: user, displayName: displayName ?? user, rpID: rp,
            challenge: try BytesArgument.base64(challenge, "--challenge"), origin: site, isResident: resident)
    }
}

/// Requests an assertion for a backend.
struct ArculusCardAuthenticate: Verb {
    static let about = About(
        "Sign with a credential on the card; nothing leaves this machine.",
        discussion: """
            --options is what the backend got from the server. The output is what the server expects:

            curl … /assertion/options | ykit arculus card authenticate --options - --origin https://example.com |
              curl … --json @- /assertion/result
            """,
        examples: [Example("ykit arculus card authenticate --origin https://example.com --options get.json")])
    typealias Reported = (signed: AuthenticationResponse, rpID: String)
    static let answer = Shape<Reported>(
        Member("credential", "what the server expects") { $0.signed.arculusJSON }, Member("rpId") { $0.rpID },
        Member("credentialId") { Base64.encodeURL($0.signed.id) }
    ).following(ArculusResult.ok)

    @Option("--origin", help: "The client's origin, as the server expects it.") var origin: String

    @Option("--options <file>", help: "The backend's reply: a file, or - for standard input.", completion: .input)
    var options: String

    @Option("--rp <id>", help: "The relying party, if the options do not name it.") var rp: String?

    @Option("--user", help: "The account to use, if the card stores several.") var user: String?

    @OptionGroup var output: ArculusOutput

    @OptionGroup var holding: ArculusCardOptions

    func run(in run: Run) async throws -> Outcome<Reported> {
        let field = CardPresence(run)
        let file = try output.open(run)
        return try await field.outcome {
            let site = try Origin(origin)
            let wanted = try ArculusOptions.request(fromBackend: try Files.read(options))
            let party = rp ?? wanted.rpID ?? site.host
            let signed = try await field.card(retries: holding.retries).authenticateCardOnly(
                pin: holding.pin.arculus("sign in at \(party.printable)", run), username: user, rpID: party,
                options: wanted, origin: site)
            return ArculusOutput.outcome((signed: signed, rpID: party), signed.arculusJSON, in: file, run.terminal)
        }
    }
}

/// The destination of a backend's result.
struct ArculusOutput: ParsableArguments {
    @Option("--output <file>", help: "The file to write the result to.") var output = "-"

    @OptionGroup var replacing: OutputOptions

    /// Opens the destination.
    func open(_ run: Run) throws(Explanation) -> FileOutput {
        try FileOutput(output, isText: true, isSecret: true, force: replacing.force, run)
    }

    /// Returns the result alone. It also goes to standard output if the file cannot be written, since the card produced
    /// it only once.
    static func outcome<Success>(
        _ success: Success, _ result: JSONValue, in file: FileOutput, _ terminal: Terminal
    ) -> Outcome<Success> {
        var outcome = Outcome(success)
        file.keep(Array((result.text + "\n").utf8), &outcome.answer, terminal)
        return outcome
    }
}
