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

    @OptionGroup var server: ArculusServerOptions

    @OptionGroup var holding: ArculusCardOptions

    /// A user who is signed in.
    struct SignedIn: Report {
        let user: String
        let server: ArculusServer
        let signed: AuthenticationResponse
        static let members: [Member<Self>] = [
            Member("user") { $0.user }, Member("rpId") { $0.server.relyingPartyID },
            Member("credentialId") { Base64.encodeURL($0.signed.id) },
            Member("credential", "what the server expects") { $0.signed.arculusJSON },
        ]
    }

    func run(in run: Run) async throws -> Outcome<ArculusReport<SignedIn>> {
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
                ArculusReport(SignedIn(user: server.user, server: description, signed: signed)),
                "'\(server.user.printable)' is signed in at \(description.origin) with credential \(id)")
        }
    }
}
