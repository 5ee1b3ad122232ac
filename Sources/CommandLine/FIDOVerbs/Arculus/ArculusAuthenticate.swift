// SPDX-License-Identifier: Apache-2.0

import Arguments
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
            Begins at the server, has a credential of the card sign, and completes at the server.

            \(ArculusServerOptions.format)
            """, members: ArculusField.members + ["user", "rpId", "credentialId", "credential"])

    @OptionGroup var server: ArculusServerOptions

    @OptionGroup var holding: ArculusCardOptions

    func answer(in world: World) async throws -> Answer {
        let field = ArculusField(world)
        return try await field.answer {
            let description = try server.read()
            let client = ArculusClient(
                description, card: field.card(retries: holding.retries),
                http: try world.http())
            let signed = try await client.authenticateUser(
                server.user, pin: holding.pin.arculus("sign in at \(description.origin)", world))
            let id = Base64.encodeURL(signed.id)
            return Answer(
                "'\(server.user.printable)' is signed in at \(description.origin) with credential \(id)",
                [
                    "user": .string(server.user), "rpId": .string(description.rpID ?? description.origin.host),
                    "credentialId": .string(id), "credential": signed.arculusJSON,
                ])
        }
    }
}
