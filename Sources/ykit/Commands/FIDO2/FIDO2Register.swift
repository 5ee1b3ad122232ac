// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import YKFIDO
import YKWire

/// Makes a credential.
struct FIDO2Register: Verb {
    static let configuration = CommandConfiguration(
        commandName: "register", abstract: "Make a credential, after a touch.",
        discussion: """
            For yourself: ykit fido2 register --rp example.com --user alice. For a server: --origin and --options with \
            its JSON (WebAuthn PublicKeyCredentialCreationOptionsJSON, bare or under "publicKey"); the member \
            "credential" of the JSON answer is what it wants back. With --format libfido2, --options is the input of \
            'fido2-cred -M', and the answer its output.
            """)
    static let members = [
        "credential", "rpId", "user", "credentialId", "algorithm", "publicKeyPem", "format", "aaguid", "flags",
        "counter",
    ]

    @OptionGroup var ask: RegistrationOptions

    @Option(help: ArgumentHelp("Who asks, https://RP unless told otherwise.", valueName: "origin"))
    var origin: String?

    @Option(
        help: ArgumentHelp("What is asked for: a file, or - for standard input.", valueName: "file"),
        completion: .file())
    var options: String?

    @Option(help: "How --options and the answer are written: webauthn or libfido2.")
    var format: ExchangeFormat = .webauthn

    @Flag(name: .customLong("u2f"), help: "Speak U2F to the key, also when it knows FIDO2.")
    var usesU2F = false

    @OptionGroup(title: "PIN Options")
    var pin: PINOptions

    @OptionGroup(title: "Global Options")
    var global: GlobalOptions

    func validate() throws {
        if options == nil, ask.rp == nil || ask.user == nil {
            throw ValidationError("say for whom: --rp and --user, or --options FILE")
        }
        if options != nil, ask.rp != nil || ask.user != nil {
            throw ValidationError("--options says for whom, leave --rp and --user away")
        }
        if options != nil, format == .webauthn, origin == nil {
            throw ValidationError("--options needs --origin, who asks")
        }
        if options == "-", pin.pinStdin { throw ValidationError("standard input cannot be both, PIN and options") }
        if format == .libfido2, global.json { throw ValidationError("--format libfido2 and --json are two answers") }
    }

    func answer(in world: World) async throws -> Answer {
        if format == .libfido2 { return try await LibFIDO2Registration(verb: self).answer(in: world) }
        let wanted =
            try options.map { try PublicKeyCredentialCreationOptions(parsing: try Files.read($0)) }
            ?? ask.read(world)
        let site = try Origin(origin ?? "https://\(ask.rp ?? "")")
        let rpID = try site.relyingPartyID(wanted.rpID)
        let what = "make a credential for '\((wanted.user.name ?? "").printable)' at \(rpID.printable)"
        let service = try await world.openFIDO(pin, for: what)
        let isRemembered = wanted.selection.residentKey == .required
        world.announce("\(what)\(isRemembered ? ", remembered by the key" : "")")
        var client = WebAuthnClient(service: service, origin: site)
        client.usesU2F = usesU2F
        let made = try await client.create(wanted)
        return RegistrationReport(made, rpID: rpID, user: wanted.user).answer
    }
}
