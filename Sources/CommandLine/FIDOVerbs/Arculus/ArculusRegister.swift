// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKArculus
import YKCrypto
import YKFIDO
import YKHTTP
import YKProtocols
import YKTransport
import YKWire

/// Registers a card with a server.
struct ArculusRegister: Verb {
    static let about = About(
        "register", "Register the card at a server, for an account.",
        discussion: """
            Begins at the server, makes a credential on the card, and completes at the server.

            \(ArculusServerOptions.format)
            """, members: ArculusField.members + ["user", "rpId", "credentialId", "aaguid", "credential", "reset"])

    @OptionGroup var server: ArculusServerOptions

    @Option("--display-name", help: "The account's display name.") var displayName: String?

    @Flag("--reset", help: "Reset the card first: all its credentials are lost, and it gets the PIN that is given.")
    var reset = false

    @Flag(["--force", "-f"], help: "Do not ask before the reset, or before a credential is replaced.")
    var force = false

    @Flag("--resident", help: "Store the credential on the card: a passkey.") var resident = false

    @Option(
        "--attestation", among: [.none, .indirect, .direct],
        help: "Attestation conveyance: none, indirect or direct.")
    var attestation: AttestationChoice?

    @Option(
        "--info <file>",
        help: "What the server is to keep of this device, a JSON object: a file, or - for standard input.")
    var info: String?

    @OptionGroup var holding: ArculusCardOptions

    func check() throws {
        try holding.pin.checkInput(info, "device")
    }

    func answer(in world: World) async throws -> Answer {
        let field = ArculusField(world)
        return try await field.answer {
            let description = try server.read()
            let wishes = try wishes()
            let fresh = reset ? try await Self.confirmed(holding.pin, force: force, world) : nil
            let client = ArculusClient(
                description, card: field.card(retries: holding.retries, replaces: force),
                http: try world.http())
            let made = try await client.registerUser(
                server.user, displayName: displayName ?? server.user,
                pin: holding.pin.arculus("register '\(server.user.printable)' at \(description.origin)", world),
                wishes: wishes,
                afterResetTo: fresh)
            return answer(made, description)
        }
    }

    private func wishes() throws -> ArculusWishes {
        var wishes = ArculusWishes()
        wishes.attestation = attestation?.conveyance ?? .none
        wishes.residentKey = resident ? .required : nil
        guard let info else { return wishes }
        guard let object = (try? JSONValue(parsing: try Files.read(info)))?.object else {
            throw Explanation.usage("--info: \(info.printable) is not a JSON object")
        }
        wishes.registrationInfo = object
        return wishes
    }

    /// Returns the PIN for after the reset, once the user confirmed the reset twice.
    private static func confirmed(_ pin: PINOptions, force: Bool, _ world: World) async throws -> SharedSecret {
        if !force, world.plan == nil {
            try Prompt.confirm("reset the card, and lose all its credentials?")
            try Prompt.confirm(typing: "reset", "every account that this card opens is lost for good")
        }
        let source = world.source(of: .fido, pin)
        let question = TerminalQuestion(
            asking: "PIN after the reset, six digits or more", objection: "a PIN is needed", orElse: source.hint)
        return try await world.obtain(.fidoPIN, source, question, isNew: true)
    }

    private func answer(_ made: RegistrationResponse, _ description: ArculusServer) -> Answer {
        let aaguid = made.attestationObject.authenticatorData.credential?.aaguid ?? []
        let id = Base64.encodeURL(made.id)
        return Answer(
            "'\(server.user.printable)' is registered at \(description.origin), credential \(id)",
            [
                "user": .string(server.user), "rpId": .string(description.rpID ?? description.origin.host),
                "credentialId": .string(id), "aaguid": .string(Hex.uuid(aaguid)),
                "credential": made.arculusJSON, "reset": .bool(reset),
            ])
    }
}
