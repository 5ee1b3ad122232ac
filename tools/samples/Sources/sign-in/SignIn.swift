// SPDX-License-Identifier: Apache-2.0

import YKit

/// Registers a passkey at a small server, then signs in with it.
@main
struct SignIn {
    static func main() async throws {
        let isVirtual = CommandLine.arguments.contains("--virtual")
        let key = try await (isVirtual ? Keys(source: .virtual(.demonstration())) : Keys()).only()
        let fido = try await key.open(
            FIDOService.self, interaction: FIDOInteraction(touch: { print("touch the key") }))
        let browser = WebAuthnClient(service: fido, origin: try Origin("https://example.com"))
        let server = Server()

        let options = await server.beginRegistration(of: "alice")
        try await server.finishRegistration(of: "alice", try await browser.create(options))
        print("registered alice")

        for assertion in try await browser.get(try await server.beginSignIn(of: "alice")) {
            let count = try await server.finishSignIn(of: "alice", assertion)
            print("signed in as alice, signature counter \(count)")
        }
        await fido.close()
    }
}

/// What a relying party does: it remembers a challenge, and checks what comes back.
actor Server {
    enum Refusal: Error {
        case unknownUser, wrongChallenge, wrongOrigin, noPublicKey
    }

    private var challenges: [String: [UInt8]] = [:]
    private var users: [String: (credential: [UInt8], publicKey: COSEKey)] = [:]

    func beginRegistration(of name: String) -> PublicKeyCredentialCreationOptions {
        PublicKeyCredentialCreationOptions(
            rpName: "Example", user: FIDOUser(id: Array(name.utf8), name: name), challenge: challenge(for: name))
    }

    func finishRegistration(of name: String, _ made: RegistrationResponse) throws {
        let hash = try clientDataHash(made.clientDataJSON, for: name)
        _ = try AttestationVerification(rpID: "example.com").check(made.attestationObject, clientDataHash: hash)
        guard let publicKey = made.publicKey else { throw Refusal.noPublicKey }
        users[name] = (made.id, publicKey)
    }

    func beginSignIn(of name: String) throws -> PublicKeyCredentialRequestOptions {
        guard let user = users[name] else { throw Refusal.unknownUser }
        return PublicKeyCredentialRequestOptions(
            challenge: challenge(for: name), allowCredentials: [PublicKeyCredentialDescriptor(id: user.credential)])
    }

    func finishSignIn(of name: String, _ assertion: AuthenticationResponse) throws -> UInt32 {
        guard let user = users[name] else { throw Refusal.unknownUser }
        let hash = try clientDataHash(assertion.clientDataJSON, for: name)
        try AssertionVerification(rpID: "example.com", publicKey: user.publicKey).check(
            assertion.authenticatorData, signature: assertion.signature, clientDataHash: hash)
        return assertion.authenticatorData.counter
    }

    private func challenge(for name: String) -> [UInt8] {
        let challenge = SystemRandom().draw(32, secret: false)
        challenges[name] = challenge
        return challenge
    }

    /// The hash of the client data, whose challenge is used up.
    private func clientDataHash(_ json: [UInt8]?, for name: String) throws -> [UInt8] {
        let data = try ClientData(parsing: json ?? [])
        guard let challenge = challenges.removeValue(forKey: name), data.challenge == challenge else {
            throw Refusal.wrongChallenge
        }
        guard data.origin == "https://example.com" else { throw Refusal.wrongOrigin }
        return data.hash
    }
}
