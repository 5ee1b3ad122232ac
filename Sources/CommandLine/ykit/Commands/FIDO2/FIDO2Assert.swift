// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKWire

/// Requests an assertion from a credential.
struct FIDO2Assert: Verb {
    static let about = About(
        "assert", "Get an assertion from a credential. Requires a touch.",
        discussion: """
            For yourself: ykit fido2 assert --rp example.com. For a server: --origin and --options with its JSON \
            (WebAuthn PublicKeyCredentialRequestOptionsJSON, bare or under "publicKey"); the member "credential" of \
            the JSON answer is what it wants back. With --format libfido2, --options is the input of \
            'fido2-assert -G', and the answer its output.
            """, members: ["credential", "rpId", "credentialId", "userId", "accounts", "flags", "counter"])

    @OptionGroup var ask: AssertionOptions

    @Option(help: "The account to sign in with: its name or identifier. No other one signs.") var user: String?

    @Flag(help: "The file of --format libfido2 names no credential (fido2-assert -r).") var resident = false

    @OptionGroup var ceremony: CeremonyOptions
    @OptionGroup var pin: PINOptions

    func check(with global: GlobalOptions) throws { try ceremony.check([("--rp", ask.rp)], pin, global) }

    func answer(in world: World) async throws -> Answer {
        if ceremony.format == .libfido2 { return try await LibFIDO2Assertion(verb: self).answer(in: world) }
        let wanted =
            try ceremony.options.map { try PublicKeyCredentialRequestOptions(parsing: try Files.read($0)) }
            ?? ask.read(world)
        let site = try ceremony.site(ask.rp)
        let rpID = try site.relyingPartyID(wanted.rpID)
        let what = "sign in at \(rpID.printable)"
        let service = try await world.openTouchedFIDO(pin, for: what)
        if !ask.noTouch { world.announce("to \(what)") }
        let choice = AccountChoice(user)
        let signed = try await sign(wanted, client(service, site), choice)
        try await choice.confirm(signed, rpID: rpID, of: service)
        return AssertionReport(signed, rpID: rpID, choice).answer
    }

    private func client(_ service: FIDOService, _ site: Origin) -> WebAuthnClient {
        var client = WebAuthnClient(service: service, origin: site)
        client.usesU2F = ceremony.usesU2F
        if ask.noTouch { client.extensions.append(WithoutTouch()) }
        return client
    }

    private func sign(
        _ wanted: PublicKeyCredentialRequestOptions, _ client: WebAuthnClient, _ choice: AccountChoice
    ) async throws -> AuthenticationResponse {
        do { return try await client.get(wanted, choosing: choice.choose) } catch {
            throw choice.problem ?? Explain.webAuthn(error)
        }
    }
}
