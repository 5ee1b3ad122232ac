// SPDX-License-Identifier: Apache-2.0

import YKRelyingParty
import YKit

/// Registers a passkey at a small server, then signs in with it; with `--u2f`, a U2F key.
@main
struct SignIn {
    static func main() async throws {
        let isVirtual = CommandLine.arguments.contains("--virtual")
        let key = try await (isVirtual ? KeyRing(source: .virtual(.demonstration())) : KeyRing()).only()
        let fido = try await key.open(
            FIDOService.self, interaction: FIDOInteraction(touch: { print("touch the key") }))
        if CommandLine.arguments.contains("--u2f") { try await signInWithU2F(fido) } else { try await signIn(fido) }
        await fido.close()
    }

    private static func signIn(_ fido: FIDOService) async throws {
        let browser = WebAuthnClient(service: fido, origin: try Origin("https://example.com"))
        let server = try Server()

        let begun = try await server.beginRegistration(of: "alice")
        try await server.finishRegistration(begun.token, try await browser.create(begun.options))
        print("registered alice")

        let asked = try await server.beginSignIn(of: "alice")
        for assertion in try await browser.get(asked.options) {
            let count = try await server.finishSignIn(asked.token, assertion)
            print("signed in as alice, signature counter \(count)")
        }
    }

    private static func signInWithU2F(_ fido: FIDOService) async throws {
        let browser = U2FBrowser(fido: fido)
        let server = U2FServer()

        let (enrolment, made) = try await browser.register(await server.begin("alice"))
        try await server.finishRegistration(of: "alice", enrolment, made)
        print("registered alice")

        let (clientData, signature) = try await browser.sign(
            await server.begin("alice"), try await server.keyHandle(of: "alice"))
        let count = try await server.finishSignIn(of: "alice", clientData, signature)
        print("signed in as alice with U2F, signature counter \(count)")
    }
}

/// A server's accounts and their credentials, in memory.
actor Server {
    enum Refusal: Error {
        case unknownUser
    }

    private let party: WebAuthnRelyingParty
    private var users: [String: [UInt8]] = [:]
    private var records: [[UInt8]: CredentialRecord] = [:]
    /// Who the browser is; a web server has it in a cookie.
    private let session = "session"

    init() throws {
        party = try WebAuthnRelyingParty(
            id: "example.com", name: "Example", origins: ["https://example.com"], ceremonies: MemoryCeremonies())
    }

    func beginRegistration(
        of name: String
    ) async throws -> BegunCeremony<PublicKeyCredentialCreationOptions> {
        let user = FIDOUser(id: SystemRandom().draw(32, secret: false), name: name, displayName: name)
        users[name] = user.id
        var wanted = RegistrationRequirements()
        wanted.selection.residentKey = .discouraged
        return try await party.beginRegistration(of: user, session: session, wanted)
    }

    func finishRegistration(_ token: String, _ made: RegistrationResponse) async throws {
        let verified = try await party.finishRegistration(
            Array(made.json.text.utf8), token: token, session: session
        ) { [self] id in await record(id) != nil }
        records[verified.record.id] = verified.record
    }

    func beginSignIn(of name: String) async throws -> BegunCeremony<PublicKeyCredentialRequestOptions> {
        guard let user = users[name] else { throw Refusal.unknownUser }
        return try await party.beginAuthentication(
            of: user, session: session, allowing: records.values.filter { $0.user == user })
    }

    func finishSignIn(_ token: String, _ assertion: AuthenticationResponse) async throws -> UInt32 {
        let verified = try await party.finishAuthentication(
            Array(assertion.json.text.utf8), token: token, session: session
        ) { [self] id in await record(id) }
        records[verified.record.id] = verified.record
        return verified.record.signCount
    }

    private func record(_ id: [UInt8]) -> CredentialRecord? { records[id] }
}
