// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKRelyingParty
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire
import YKX509

/// A client on the virtual key.
struct VirtualClient {
    let client: WebAuthnClient

    static func open(
        pin: String? = nil, version: FirmwareVersion = FirmwareVersion(5, 7, 1),
        origin: String = "https://login.example.com"
    ) async throws -> VirtualClient {
        let key = try VirtualKey.new(version)
        var environment = ServiceEnvironment(timeout: .seconds(20))
        environment.pause = { _, _ in }
        let service = try await FIDOService.open(
            card: CardChannel(link: key.link(), environment: environment),
            interaction: FIDOInteraction(pin: { _ in pin.map { SharedSecret(Secret(utf8: $0)) } }))
        if let pin { try await service.setPIN(SharedSecret(Secret(utf8: pin))) }
        return VirtualClient(client: WebAuthnClient(service: service, origin: try Origin(origin)))
    }

    func create(_ options: PublicKeyCredentialCreationOptions) async throws -> RegistrationResponse {
        try await client.create(options)
    }

    func get(_ options: PublicKeyCredentialRequestOptions) async throws -> AuthenticationResponse {
        try #require(try await client.get(options).first)
    }
}

/// Whole ceremonies between a relying party and the virtual key.
struct VirtualKeyTests {
    @Test(arguments: [COSEAlgorithm.es256, .edDSA, .rs256])
    func signsUpAndIn(_ algorithm: COSEAlgorithm) async throws {
        let key = try await VirtualClient.open(pin: "12345")
        let server = try Server { $0.attestation = .direct(TrustAnchors { $0.chain.map(\.der) }) }
        var wanted = RegistrationRequirements()
        wanted.algorithms = [algorithm]
        wanted.selection = AuthenticatorSelection(residentKey: .required, userVerification: .required)
        wanted.extensions.protection = .required
        wanted.extensions.enforcesProtection = true
        wanted.extensions.prf = PRFInput()
        wanted.extensions.largeBlob = .required
        let made = try await server.register(key.create, asking: wanted)
        #expect(made.record.publicKey.algorithm == algorithm && made.record.isUserVerificationInitialized)
        #expect(made.extensions.isDiscoverable == true && made.extensions.hasPRF == true)
        #expect(made.extensions.protection == .required && made.extensions.hasLargeBlob == true)
        var verified = AuthenticationRequirements()
        verified.userVerification = .required
        let discovered = try await server.authenticate(key.get, user: nil, asking: verified)
        #expect(discovered.record.id == made.record.id && discovered.record.signCount > made.record.signCount)
        verified.extensions.largeBlob = .write([1, 2, 3])
        try await server.authenticate(key.get, allowing: [discovered.record], asking: verified)
        verified.extensions.largeBlob = .read
        let read = try await server.authenticate(key.get, allowing: [discovered.record], asking: verified)
        expect(read.largeBlob, is: [1, 2, 3])
    }

    @Test func acceptsU2F() async throws {
        var key = try await VirtualClient.open().client
        key.usesU2F = true
        let client = VirtualClient(client: key)
        let server = try Server { $0.attestation = .direct(TrustAnchors { $0.chain.map(\.der) }) }
        var wanted = RegistrationRequirements()
        wanted.selection = AuthenticatorSelection(userVerification: .discouraged)
        let made = try await server.register(client.create, asking: wanted)
        #expect(made.format == .fidoU2F && made.record.aaguid == [UInt8](repeating: 0, count: 16))
        var asked = AuthenticationRequirements()
        asked.userVerification = .discouraged
        #expect(try await !server.authenticate(client.get, allowing: [made.record], asking: asked).isUserVerified)
    }
}
