// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKWire

/// Creates a credential.
struct FIDO2Register: Verb {
    static let about = About(
        "register", "Create a credential. Requires a touch.",
        discussion: """
            For yourself: ykit fido2 register --rp example.com --user alice. For a server: --origin and --options with \
            its JSON (WebAuthn PublicKeyCredentialCreationOptionsJSON, bare or under "publicKey"); the member \
            "credential" of the JSON answer is what it wants back. With --format libfido2, --options is the input of \
            'fido2-cred -M', and the answer its output. --format pam-u2f is for logging in to this machine: the answer is \
            a line of pam_u2f's mapping file, and --append FILE adds the key to the user's line; --origin is \
            pam://HOSTNAME without one, --user the user who runs it.
            """,
        members: [
            "credential", "rpId", "user", "credentialId", "algorithm", "publicKeyPem", "format", "aaguid", "flags",
            "counter", "line", "enterpriseAttestation",
        ])

    @OptionGroup var ask: RegistrationOptions
    @OptionGroup var ceremony: CeremonyOptions

    @Option(
        help: ArgumentHelp("Add the key to this mapping file, with --format pam-u2f.", valueName: "file"),
        completion: .file)
    var append: String?

    @OptionGroup var pin: PINOptions

    func check(with global: GlobalOptions) throws {
        guard ceremony.format == .pamU2F else {
            if append != nil { throw UsageError("--append belongs to --format pam-u2f") }
            return try ceremony.check([("--rp", ask.rp), ("--user", ask.user)], pin, global)
        }
        guard ask.rp == nil, ceremony.options == nil else {
            throw UsageError("--format pam-u2f takes --origin in place of --rp and --options")
        }
    }

    func answer(in world: World) async throws -> Answer {
        if ceremony.format == .pamU2F {
            return try await PAMU2FRegistration(verb: self, file: append).answer(in: world)
        }
        if ceremony.format == .libfido2 { return try await LibFIDO2Registration(verb: self).answer(in: world) }
        let wanted =
            try ceremony.options.map { try PublicKeyCredentialCreationOptions(parsing: try Files.read($0)) }
            ?? ask.read(world)
        let site = try ceremony.site(ask.rp)
        let rpID = try site.relyingPartyID(wanted.rpID)
        let what = "make a credential for '\((wanted.user.name ?? "").printable)' at \(rpID.printable)"
        let service = try await world.openTouchedFIDO(pin, for: what)
        let isRemembered = wanted.selection.residentKey == .required
        world.announce("\(what)\(isRemembered ? ", remembered by the key" : "")")
        var client = WebAuthnClient(service: service, origin: site)
        client.usesU2F = ceremony.usesU2F
        let made = try await client.create(wanted)
        var answer = RegistrationReport(made, rpID: rpID, user: wanted.user).answer
        if wanted.selection.residentKey == .preferred, made.isResident == false {
            answer.warnings.append(
                "the key does not remember this credential: it cannot, or has no room for another one")
        }
        return answer
    }
}
