// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKArculus
import YKFIDO
import YKHTTP
import YKWire

/// Signs in to a server with a card.
struct ArculusAuthenticate: Verb {
    static let about = About(
        "authenticate", "Sign in at a server with the card.",
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
