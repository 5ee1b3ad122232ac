// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKArculus
import YKFIDO
import YKTransport
import YKWire

/// Requests an assertion for a backend.
struct ArculusCardAuthenticate: Verb {
    static let about = About(
        "authenticate", "Sign with a credential on the card; nothing leaves this machine.",
        discussion: """
            --options is what the backend got from the server. The output is what the server expects:

            curl … /assertion/options | ykit arculus card authenticate --options - --origin https://example.com |
              curl … --json @- /assertion/result
            """,
        examples: [Example("ykit arculus card authenticate --origin https://example.com --options get.json")])
    typealias Reported = (signed: AuthenticationResponse, rpID: String)
    static let answer = Shape<Reported>(members: [
        Member("credential", "what the server expects") { $0.signed.arculusJSON }, Member("rpId") { $0.rpID },
        Member("credentialId") { Base64.encodeURL($0.signed.id) },
    ]).following(ArculusResult.ok)

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
            return ArculusOutput.outcome((signed: signed, rpID: party), signed.arculusJSON, in: file)
        }
    }
}
